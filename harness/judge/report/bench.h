/* bench: the record of one `judge bench`, and what is made of it: a table, JSON, a comparison of
 * two, a curve. Strings belong to the arena of whoever filled it. */
#ifndef JUDGE_REPORT_BENCH_H
#define JUDGE_REPORT_BENCH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct bench_point {
    bool known;
    bool too_noisy; /* the ratio is not known well enough to be told */
    double ms, gb_per_s;
    double of_copy;                      /* 0 = there was no copy */
    double ratio, ratio_low, ratio_high; /* to the reference; 0 = there was none */
    const char *flags;                   /* cross-checks that did not hold, "" = all did */
};

struct bench_entrant {
    const char *label;
    const char *role;           /* "copy", "reference", "rung", "rival", "submission" */
    const char *failed;         /* why it has no numbers; NULL = it has */
    struct bench_point *points; /* [size] */
};

struct bench_size {
    const char *name; /* "n=65536" */
    int64_t n;
    uint64_t bytes;   /* that one call has to move */
    const char *note; /* why there are no numbers, NULL = there are */
};

struct bench {
    const char *problem, *card, *driver;
    uint64_t seed;
    struct bench_entrant *entrants;
    unsigned entrant_count;
    struct bench_size *sizes;
    unsigned size_count;
};

void report_bench_text(const struct bench *b, struct text *out);
void report_bench_json(const struct bench *b, struct text *out);

/* What report_bench_json() wrote; -1 with what is wrong about it, `name` being the file's. */
int report_bench_read(const char *name, const char *json, struct arena *arena, struct bench *b,
                      struct err *e);

/* Every entrant and size that both have: how much faster or slower `after` is. A change is told as
 * one only where the intervals of the ratios to the reference do not meet. */
void report_bench_compare(const struct bench *before, const struct bench *after, struct text *out);

/* A gnuplot script that draws bytes per second over n into `file`; terminal "svg" or "png". */
void report_bench_plot(const struct bench *b, const char *terminal, const char *file,
                       struct text *out);

#endif
