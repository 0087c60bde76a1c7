#include "judge/costs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool costs_apply(const struct problem *p, const char *case_name)
{
    for (unsigned i = 0; i < p->cost_count; i++)
        if (strcmp(p->costs[i].case_name, case_name) == 0)
            return true;
    return false;
}

uint32_t costs_checks(const struct problem *p, const char *case_name)
{
    for (unsigned i = 0; i < p->cost_count; i++)
        if (strcmp(p->costs[i].case_name, case_name) == 0 && cost_needs_addresses(&p->costs[i]))
            return WIRE_CHECK_COUNTERS;
    return 0;
}

/* Whole numbers in full, others with as many digits as it takes to see that they are too large. */
static const char *number(struct arena *arena, double x, double limit)
{
    if (x == floor(x) && x < 1e15)
        return arena_printf(arena, "%.0f", x);
    for (int digits = 4; digits < 12; digits++) {
        const char *s = arena_printf(arena, "%.*g", digits, x);
        double shown = 0;
        if (sscanf(s, "%lf", &shown) == 1 && (shown > limit) == (x > limit))
            return s;
    }
    return arena_printf(arena, "%.12g", x);
}

/* The phrase with its %s replaced. */
static const char *fill(struct arena *arena, const char *phrase, const char *what)
{
    const char *hole = strstr(phrase, "%s");
    if (!hole)
        return arena_printf(arena, "%s: %s", phrase, what);
    return arena_printf(arena, "%.*s%s%s", (int)(hole - phrase), phrase, what, hole + 2);
}

const char *costs_exceeded(const struct case_data *data, const struct wire_counters *counters,
                           struct arena *arena)
{
    const struct problem *p = data->problem;
    const char *all = NULL;
    for (unsigned i = 0; i < p->cost_count; i++) {
        const struct problem_cost *cost = &p->costs[i];
        double value = cost_value(cost, data, counters), limit;
        struct err e;
        if (strcmp(cost->case_name, data->instance->name) != 0)
            continue;
        if (cost_limit(cost, data->instance->values, &limit, &e) != 0)
            BUG("a cost limit that the loader has computed: %s", e.text);
        if (value <= limit)
            continue;
        const char *sentence =
            arena_printf(arena, "%s; at most %s %s allowed: %s",
                         fill(arena, cost_phrase(cost, arena), number(arena, value, limit)),
                         number(arena, limit, limit), limit == 1 ? "is" : "are", cost->why);
        all = all ? arena_printf(arena, "%s\n%s", all, sentence) : sentence;
    }
    return all;
}
