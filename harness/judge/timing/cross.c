/* The tolerances are constants of the method, not of a card: what honest programs were seen to need
 * on an H200, and some room. */
#include "judge/timing/cross.h"

#include "base/err.h"
#include "judge/stats/stats.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Waking up two processes varies by some microseconds from round to round; medians by less. */
static const double GAP_ROOM_MS = 0.025, GAP_ROOM_OF_TIME = 0.03;
/* On a busy machine the honest ones vary as well: as much as they do. */
static const double GAP_ROOM_DEVIATIONS = 4;
/* Outputs are copied aside one by one, while L2 still writes back what the call left in it. */
static const double ASIDE_FACTOR = 1.5;
/* The slowest of the first calls may load code; the fastest of the others has no excuse. But what a
 * processor warms up to goes on into the first timed calls: the doubt is about a step just there.
 */
static const double WARM_UP_FACTOR = 1.5, WARM_UP_ROOM_MS = 0.05;
enum { STILL_WARMING = 3 };
/* cudaMemcpyAsync is not the last word (1.02 was seen), and at small sizes it is slow to start. */
static const double FASTER_THAN_COPY = 2.0, MORE_THAN_CARD = 1.15;
/* Less than this is no sign: a few lines for tile states, say. */
static const uint64_t PERSISTING_ROOM = 1;

static double *gaps_of(const struct cross_series *s)
{
    double *gaps = malloc((s->rounds + 1) * sizeof *gaps);
    if (!gaps)
        BUG("no memory for %u rounds", s->rounds);
    for (unsigned i = 0; i < s->rounds; i++)
        gaps[i] = s->judge_ms[i] - s->window_ms[i];
    return gaps;
}

double cross_gap(const struct cross_series *s, double *deviation)
{
    double *gaps = gaps_of(s), gap = stats_median(gaps, s->rounds);
    if (deviation)
        *deviation = stats_deviation(gaps, s->rounds);
    free(gaps);
    return gap;
}

/* What follows the call in its stream, at least: the copy of the outputs, as the box says. The
 * quartile for the same reason as below. */
static double aside_of(const struct cross_series *s)
{
    return stats_quantile(s->window_ms, s->rounds, 0.25) - stats_median(s->event_ms, s->rounds);
}

/* Most rounds may have been held up by other programs on the machine, but not all: so what the
 * judge's clock says at least is its lower quartile. (Not that of the difference: a box could be
 * honest in one round of four.) */
static double unexplained(const struct cross_series *s, const struct cross_card *card)
{
    return stats_quantile(s->judge_ms, s->rounds, 0.25) - card->gap_ms -
           stats_median(s->window_ms, s->rounds);
}

bool cross_timers_differ(const struct cross_series *s, const struct cross_card *card)
{
    double room = GAP_ROOM_MS + GAP_ROOM_OF_TIME * stats_median(s->judge_ms, s->rounds) +
                  GAP_ROOM_DEVIATIONS * card->gap_deviation_ms;
    return unexplained(s, card) > room || cross_gap(s, NULL) < -room ||
           (card->aside_ms > 0 && aside_of(s) > ASIDE_FACTOR * card->aside_ms + room);
}

static __attribute__((format(printf, 4, 5))) void
add(struct wire_finding *findings, unsigned *count, enum finding_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    wire_finding_vset(&findings[(*count)++], kind, WIRE_WARNING, format, args);
    va_end(args);
}

static double fastest_warm_up(const struct cross_series *s)
{
    double fastest = s->warm_up_ms[1];
    for (unsigned i = 2; i < s->warm_ups; i++)
        if (s->warm_up_ms[i] < fastest)
            fastest = s->warm_up_ms[i];
    return fastest;
}

/* What a call after the warm-up may take: as usual, or as the slowest of the first timed calls. */
static double warm_call(const struct cross_series *s, double median_ms)
{
    double slowest = median_ms;
    for (unsigned i = 0; i < STILL_WARMING && i < s->rounds; i++)
        if (s->event_ms[i] > slowest)
            slowest = s->event_ms[i];
    return slowest;
}

unsigned cross_check(const struct cross_series *s, const struct cross_card *card, double median_ms,
                     struct wire_finding findings[CROSS_FINDINGS_MAX])
{
    unsigned count = 0;
    double event_ms = stats_median(s->event_ms, s->rounds);
    if (cross_timers_differ(s, card))
        add(findings, &count, FINDING_timer_mismatch,
            "the events say %.4g ms for the call, and by the judge's clock %.4g ms passed beside "
            "it "
            "between \"go\" and \"done\"; for the reference and the copy those are %.4g ms. Work "
            "on a stream that the caller's does not wait for, a host thread that goes on, or a "
            "timer that was tampered with: times here are by the judge's clock",
            event_ms, cross_gap(s, NULL) + aside_of(s), card->gap_ms + card->aside_ms);
    double gb_per_s = (double)card->bytes / median_ms / 1e6;
    if ((card->copy_ms > 0 && median_ms * FASTER_THAN_COPY < card->copy_ms) ||
        (card->gb_per_s > 0 && gb_per_s > card->gb_per_s * MORE_THAN_CARD))
        add(findings, &count, FINDING_impossible_time,
            "%.4g ms for at least %llu bytes would be %.4g GB/s; copying as many takes %.4g ms, "
            "and the card moves at most %.4g GB/s",
            median_ms, (unsigned long long)card->bytes, gb_per_s, card->copy_ms, card->gb_per_s);
    if (s->warm_ups > 1 &&
        fastest_warm_up(s) > WARM_UP_FACTOR * warm_call(s, median_ms) + WARM_UP_ROOM_MS)
        add(findings, &count, FINDING_slow_warm_up,
            "each of the first %u calls took %.4g ms or more, the others %.4g ms", s->warm_ups,
            fastest_warm_up(s), median_ms);
    if (s->persisting_bytes >= PERSISTING_ROOM)
        add(findings, &count, FINDING_persisting_l2,
            "%llu bytes of L2 were set aside for lines that persist from call to call; the judge "
            "takes them back before every call",
            (unsigned long long)s->persisting_bytes);
    return count;
}
