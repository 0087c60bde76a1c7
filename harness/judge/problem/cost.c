/* Cost limits: what a counter of a spec stands for.
 *
 * A counter is a name of wire/counters.def, or global_bytes, the bytes read and written together;
 * with _per_item it is divided by the elements of the first input (1 if that is empty). */
#include "judge/problem/problem.h"

#include <string.h>

static const char PER_ITEM[] = "_per_item";

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

bool cost_counter_known(const char *name)
{
    size_t length = base_length(name);
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        if (is_named(name, length, counter_name((enum counter)i)))
            return true;
    return is_named(name, length, "global_bytes");
}

double cost_value(const struct problem_cost *cost, const struct case_data *data,
                  const struct wire_counters *counters)
{
    size_t length = base_length(cost->counter);
    double v = 0;
    if (is_named(cost->counter, length, "global_bytes"))
        v = (double)counters->value[COUNTER_global_bytes_read] +
            (double)counters->value[COUNTER_global_bytes_written];
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        if (is_named(cost->counter, length, counter_name((enum counter)i)))
            v = (double)counters->value[i];
    if (cost->counter[length] == '\0')
        return v;
    const struct problem *p = data->problem;
    for (unsigned i = 0; i < p->param_count; i++)
        if (p->params[i].kind == PARAM_BUFFER &&
            (p->params[i].role == WIRE_INPUT || p->params[i].role == WIRE_INOUT))
            return data->buffers[i].count ? v / (double)data->buffers[i].count : v;
    return v;
}
