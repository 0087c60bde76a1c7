/* Cost limits: what a counter of a spec stands for, and how much of it a case may take.
 *
 * A counter is a name of wire/counters.def or one derived from several (DERIVED below); with
 * _per_item it is divided by the elements of the first input (1 if that is empty). */
#include "judge/problem/expr.h"
#include "judge/problem/problem.h"

#include <string.h>

static const char PER_ITEM[] = "_per_item";

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double value_of(const struct wire_counters *c, enum counter counter)
{
    return (double)c->value[counter];
}

static double global_bytes(const struct wire_counters *c)
{
    return value_of(c, COUNTER_global_bytes_read) + value_of(c, COUNTER_global_bytes_written);
}

static double sectors_per_request(const struct wire_counters *c)
{
    return ratio(value_of(c, COUNTER_global_sectors), value_of(c, COUNTER_global_requests));
}

static double conflicts_per_request(const struct wire_counters *c)
{
    return ratio(value_of(c, COUNTER_shared_bank_conflicts), value_of(c, COUNTER_shared_requests));
}

static const struct derived {
    const char *name, *phrase;
    double (*value)(const struct wire_counters *c);
} DERIVED[] = {
    {"global_bytes", "reads and writes %s bytes of global memory", global_bytes},
    {"global_sectors_per_request", "touches %s sectors with each access to global memory",
     sectors_per_request},
    {"shared_bank_conflicts_per_request",
     "costs %s extra passes in bank conflicts with each access to shared memory",
     conflicts_per_request},
};
enum { DERIVED_COUNT = sizeof DERIVED / sizeof DERIVED[0] };

/* Length of the name without _per_item. */
static size_t base_length(const char *name)
{
    size_t length = strlen(name), tail = sizeof PER_ITEM - 1;
    return length > tail && strcmp(name + length - tail, PER_ITEM) == 0 ? length - tail : length;
}

static bool is_named(const char *name, size_t length, const char *counter)
{
    return strlen(counter) == length && memcmp(name, counter, length) == 0;
}

/* The rows of a name; at most one of the two is found, *counter is COUNTER_COUNT if it is not. */
static const struct derived *find(const char *name, enum counter *counter)
{
    size_t length = base_length(name);
    *counter = COUNTER_COUNT;
    for (int k = 0; k < COUNTER_COUNT; k++)
        if (is_named(name, length, counter_name((enum counter)k)))
            *counter = (enum counter)k;
    for (size_t k = 0; k < DERIVED_COUNT; k++)
        if (is_named(name, length, DERIVED[k].name))
            return &DERIVED[k];
    return NULL;
}

bool cost_counter_known(const char *name)
{
    enum counter counter;
    return find(name, &counter) || counter != COUNTER_COUNT;
}

const char *const *cost_counter_names(struct arena *arena)
{
    const char **names = arena_array(arena, COUNTER_COUNT + DERIVED_COUNT + 1, sizeof *names);
    for (int k = 0; k < COUNTER_COUNT; k++)
        names[k] = counter_name((enum counter)k);
    for (size_t k = 0; k < DERIVED_COUNT; k++)
        names[COUNTER_COUNT + k] = DERIVED[k].name;
    return names;
}

bool cost_needs_addresses(const struct problem_cost *cost)
{
    enum counter counter;
    const struct derived *derived = find(cost->counter, &counter);
    return (derived && derived->value != global_bytes) || counter == COUNTER_global_sectors ||
           counter == COUNTER_shared_bank_conflicts;
}

double cost_value(const struct problem_cost *cost, const struct case_data *data,
                  const struct wire_counters *counters)
{
    enum counter counter;
    const struct derived *derived = find(cost->counter, &counter);
    double v = derived ? derived->value(counters)
                       : (counter == COUNTER_COUNT ? 0 : value_of(counters, counter));
    if (cost->counter[base_length(cost->counter)] == '\0')
        return v;
    const struct problem *p = data->problem;
    for (unsigned i = 0; i < p->param_count; i++)
        if (p->params[i].kind == PARAM_BUFFER &&
            (p->params[i].role == WIRE_INPUT || p->params[i].role == WIRE_INOUT))
            return data->buffers[i].count ? v / (double)data->buffers[i].count : v;
    return v;
}

int cost_limit(const struct problem_cost *cost, const int64_t *values, double *limit, struct err *e)
{
    struct expr_values v = {.variables = values};
    int64_t most;
    *limit = cost->max;
    if (!cost->most)
        return 0;
    if (expr_eval(cost->most, &v, &most, e) != 0)
        return -1;
    *limit = (double)most;
    return 0;
}

const char *cost_phrase(const struct problem_cost *cost, struct arena *arena)
{
    enum counter counter;
    const struct derived *derived = find(cost->counter, &counter);
    const char *phrase = derived                    ? derived->phrase
                         : counter == COUNTER_COUNT ? cost->counter
                                                    : counter_cost(counter);
    bool per_item = cost->counter[base_length(cost->counter)] != '\0';
    return per_item ? arena_printf(arena, "%s per element", phrase) : phrase;
}
