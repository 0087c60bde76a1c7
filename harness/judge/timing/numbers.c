/* What is reported is by events, unless those cannot be true: then by the judge's clock, less what
 * passes beside a call for those that have no reason to lie. */
#include "base/rng.h"
#include "judge/timing/cross.h"
#include "judge/timing/measure.h"

#include <math.h>

/* Two judgings differ by more than their samples show: what a process gets when it makes its
 * context takes its launches a little longer or shorter from then on, also those of an empty
 * kernel. Seen on an H200 in ten judgings of one submission: medians of one program differ by about
 * 0.13 us and 0.2% (standard deviations), whatever its time. */
static const double PROCESS_MS = 0.00013, PROCESS_SHARE = 0.002;

static double process_sd(double a_ms, double b_ms)
{
    double a = PROCESS_MS / a_ms, b = PROCESS_MS / b_ms;
    return sqrt(a * a + b * b + 2 * PROCESS_SHARE * PROCESS_SHARE);
}

/* Wider than this and the ratio is not worth a number. */
static const double TOO_WIDE = 0.15;

const struct player *numbers_base(const struct measure *m)
{
    return m->reference ? m->reference : m->copy;
}

static uint64_t interval_seed(const struct measure *m, const struct player *p)
{
    return rng_key(m->options->seed, 0x696e740000 + p->index);
}

struct stats_interval numbers_ratio(const struct measure *m, const struct player *p)
{
    const struct player *base = numbers_base(m);
    return stats_ratio(p->event_ms + TIMING_WARM_UPS, base->event_ms + TIMING_WARM_UPS,
                       p->rounds - TIMING_WARM_UPS, TIMING_LEVEL, interval_seed(m, p));
}

static struct cross_series series_of_player(const struct player *p)
{
    return (struct cross_series){.event_ms = p->event_ms + TIMING_WARM_UPS,
                                 .window_ms = p->window_ms + TIMING_WARM_UPS,
                                 .judge_ms = p->judge_ms + TIMING_WARM_UPS,
                                 .rounds = p->rounds - TIMING_WARM_UPS,
                                 .warm_up_ms = p->event_ms,
                                 .warm_ups = TIMING_WARM_UPS,
                                 .persisting_bytes = p->persisting_bytes};
}

static struct cross_card card_of(struct measure *m)
{
    struct cross_card card = {.bytes = m->size->bytes, .gap_ms = 0};
    const struct player *honest[] = {m->reference, m->copy};
    for (unsigned i = 0; i < 2; i++) {
        if (!honest[i])
            continue;
        struct cross_series s = series_of_player(honest[i]);
        double deviation, gap = cross_gap(&s, &deviation);
        card.gap_ms = gap > card.gap_ms ? gap : card.gap_ms;
        card.gap_deviation_ms =
            deviation > card.gap_deviation_ms ? deviation : card.gap_deviation_ms;
    }
    if (m->copy) {
        card.copy_ms =
            stats_median(m->copy->event_ms + TIMING_WARM_UPS, m->copy->rounds - TIMING_WARM_UPS);
        double rate = (double)m->size->bytes / card.copy_ms / 1e6;
        if (rate > m->best_copy_gb_per_s)
            m->best_copy_gb_per_s = rate;
        /* A copy moves `bytes` in all; of the outputs every byte is read and written. */
        card.aside_ms =
            card.copy_ms * 2 * (double)m->size->request.out_bytes / (double)m->size->bytes;
    }
    return card;
}

static void fill_series(struct measure *m, const struct player *p, const struct cross_card *card,
                        struct timing_series *out)
{
    struct cross_series s = series_of_player(p);
    bool is_honest = p == m->reference || p == m->copy;
    bool differs = !is_honest && (m->reference || m->copy) && cross_timers_differ(&s, card);
    *out = (struct timing_series){.rounds = s.rounds};
    out->event_ms = p->event_ms + TIMING_WARM_UPS;
    out->judge_ms = p->judge_ms + TIMING_WARM_UPS;
    out->ms = arena_array(m->arena, s.rounds, sizeof *out->ms);
    for (unsigned i = 0; i < s.rounds; i++) {
        double by_judge = s.judge_ms[i] - card->gap_ms - (s.window_ms[i] - s.event_ms[i]);
        out->ms[i] = differs && by_judge > s.event_ms[i] ? by_judge : s.event_ms[i];
    }
    out->median_ms = stats_median(out->ms, s.rounds);
    out->deviation_ms = stats_deviation(out->ms, s.rounds);
    out->gb_per_s = (double)m->size->bytes / out->median_ms / 1e6;
    out->of_copy = card->copy_ms > 0 ? card->copy_ms / out->median_ms : 0;
    const struct player *base = m->reference;
    if (base) {
        out->ratio = stats_ratio(out->ms, base->event_ms + TIMING_WARM_UPS, s.rounds, TIMING_LEVEL,
                                 interval_seed(m, p));
        double base_ms =
            stats_median(base->event_ms + TIMING_WARM_UPS, base->rounds - TIMING_WARM_UPS);
        if (p != base)
            out->ratio =
                stats_widened(out->ratio, process_sd(out->median_ms, base_ms), TIMING_LEVEL);
        out->too_noisy = p != base && p != m->copy && !(stats_width(&out->ratio) <= TOO_WIDE);
    }
    if (is_honest)
        return;
    m->measured[m->measured_count++] = (struct measured){s, *card, out};
}

void numbers_fill(struct measure *m, struct timing_size *out)
{
    out->entrants = arena_array(m->arena, m->player_count, sizeof *out->entrants);
    struct cross_card card = card_of(m);
    for (unsigned i = 0; i < m->player_count; i++)
        fill_series(m, &m->players[i], &card, &out->entrants[i]);
}

void numbers_check(struct measure *m)
{
    for (unsigned i = 0; i < m->measured_count; i++) {
        struct measured *one = &m->measured[i];
        one->card.gb_per_s = m->best_copy_gb_per_s;
        one->out->findings = arena_array(m->arena, CROSS_FINDINGS_MAX, sizeof *one->out->findings);
        one->out->finding_count =
            cross_check(&one->series, &one->card, one->out->median_ms, one->out->findings);
    }
}
