/* plan: what timing.c prepares and measure.c uses. */
#ifndef JUDGE_TIMING_PLAN_H
#define JUDGE_TIMING_PLAN_H

#include "judge/timing/data.h"
#include "judge/timing/pool.h"
#include "judge/timing/timing.h"

struct timing_plan {
    const struct problem *problem;
    struct timing_options options; /* with the defaults filled in */
    struct size_data *sizes;
    unsigned size_count;
    struct pool *pool;
    bool ahead; /* the data of all sizes is made at once */
};

#endif
