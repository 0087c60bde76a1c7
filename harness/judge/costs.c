#include "judge/costs.h"

#include <string.h>

bool costs_apply(const struct problem *p, const char *case_name)
{
    for (unsigned i = 0; i < p->cost_count; i++)
        if (strcmp(p->costs[i].case_name, case_name) == 0)
            return true;
    return false;
}

const char *costs_exceeded(const struct case_data *data, const struct wire_counters *counters,
                           struct arena *arena)
{
    const struct problem *p = data->problem;
    for (unsigned i = 0; i < p->cost_count; i++) {
        const struct problem_cost *cost = &p->costs[i];
        if (strcmp(cost->case_name, data->instance->name) != 0)
            continue;
        double value = cost_value(cost, data, counters);
        if (!(value <= cost->max))
            return arena_printf(arena, "%s is %.6g and may be at most %.6g: %s", cost->counter,
                                value, cost->max, cost->why ? cost->why : "see the statement");
    }
    return NULL;
}
