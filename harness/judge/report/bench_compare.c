/* Two runs may be of two days or of two cards: times alone compare badly, and are shown beside what
 * the interleaved reference of each run makes of them. */
#include "judge/report/bench.h"

#include "judge/report/report.h"

#include <string.h>

static const struct bench_entrant *find_entrant(const struct bench *b, const char *label)
{
    for (unsigned i = 0; i < b->entrant_count; i++)
        if (strcmp(b->entrants[i].label, label) == 0)
            return &b->entrants[i];
    return NULL;
}

static const struct bench_point *find_point(const struct bench *b, const struct bench_entrant *e,
                                            const char *size)
{
    for (unsigned i = 0; e && i < b->size_count; i++)
        if (strcmp(b->sizes[i].name, size) == 0 && e->points[i].known)
            return &e->points[i];
    return NULL;
}

static const char *judgement(const struct bench_point *a, const struct bench_point *b)
{
    if (a->ratio <= 0 || b->ratio <= 0)
        return "";
    if (a->too_noisy || b->too_noisy)
        return "too noisy to tell";
    if (b->ratio_high < a->ratio_low)
        return "faster";
    return b->ratio_low > a->ratio_high ? "slower" : "the same";
}

void report_bench_compare(const struct bench *before, const struct bench *after, struct text *out)
{
    unsigned rows = 0;
    text_addf(out, "bench: %s, before on %s, after on %s\n", after->problem, before->card,
              after->card);
    if (strcmp(before->problem, after->problem) != 0)
        text_addf(out, "before it was another problem: %s\n", before->problem);
    for (unsigned s = 0; s < after->size_count; s++) {
        bool headed = false;
        for (unsigned k = 0; k < after->entrant_count; k++) {
            const struct bench_entrant *e = &after->entrants[k];
            const char *size = after->sizes[s].name;
            const struct bench_point *b = find_point(after, e, size);
            const struct bench_point *a = find_point(before, find_entrant(before, e->label), size);
            if (!a || !b || a->ms <= 0)
                continue;
            if (!headed)
                text_addf(out, "\n%s\n  %-32s %10s %10s %8s %10s %10s\n", size, "entrant",
                          "ms before", "after", "change", "x ref.", "after");
            headed = true;
            rows++;
            struct text label;
            text_init(&label);
            report_add_name(&label, e->label);
            text_addf(out, "  %-32s %10.4f %10.4f %+7.1f%% %10.3f %10.3f  %s\n", text_str(&label),
                      a->ms, b->ms, 100 * (b->ms / a->ms - 1), a->ratio, b->ratio, judgement(a, b));
            text_release(&label);
        }
    }
    if (!rows)
        text_add(out, "\nthe two have no entrant and size in common\n");
}
