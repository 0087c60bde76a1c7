/* measure: one measurement while it runs; shared by measure.c, which plays the rounds, and
 * numbers.c, which makes numbers of them. */
#ifndef JUDGE_TIMING_MEASURE_H
#define JUDGE_TIMING_MEASURE_H

#include "judge/timing/cross.h"
#include "judge/timing/plan.h"

#include <stdatomic.h>

struct player { /* one entrant */
    const struct timing_entrant *entrant;
    unsigned index;
    struct run_box box;
    bool is_open, is_checked, has_own_outputs;
    struct wire_request request; /* of this size */
    struct run_region own_outputs;
    const struct run_region *outputs; /* OUTPUT_SLOTS in a row */
    struct pool_group slots[OUTPUT_SLOTS];
    unsigned fetches;
    double *event_ms, *window_ms, *judge_ms; /* per round, warm-up first */
    unsigned rounds, turns;
    uint64_t persisting_bytes;
    struct run_outcome outcome; /* of the latest request */
    const char *does_not_fit;
};

struct comparison {
    struct measure *measure;
    struct data_set *set;
    struct wire_request request;
    const uint8_t *outputs;
    unsigned player, call, parts;
    atomic_uint left; /* parts that are not done */
    atomic_bool differs;
    struct arena arena;
    struct check_result result;
};

/* One entrant at one size, until the cross-checks at the end. */
struct measured {
    struct cross_series series;
    struct cross_card card;
    struct timing_series *out;
};

struct measure {
    struct timing_plan *plan;
    const struct timing_options *options;
    struct player *players;
    unsigned player_count;
    struct player *reference, *copy; /* NULL = none */
    struct arena *arena;             /* of the result */
    struct timing *result;
    struct size_data *size;
    _Atomic(struct comparison *) wrong; /* the first one that failed */
    uint64_t round;                     /* counts over all sizes: keys of fresh data */
    unsigned set;                       /* of the latest round */
    struct timing_clocks clocks;
    double best_copy_gb_per_s;
    struct measured *measured; /* those that are checked, of all sizes so far */
    unsigned measured_count;
};

/* What ratios refer to while rounds are played: the reference, or the copy; NULL. */
const struct player *numbers_base(const struct measure *m);

/* The ratio of the claimed times so far. */
struct stats_interval numbers_ratio(const struct measure *m, const struct player *p);

/* All numbers of the size that was just played. */
void numbers_fill(struct measure *m, struct timing_size *out);

/* The findings of the cross-checks, of all sizes: what the card can move is known once the largest
 * has been played. */
void numbers_check(struct measure *m);

#endif
