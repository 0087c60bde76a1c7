/* One variable of the public case gets another value, at most an eighth away; which and how far is
 * drawn until the values are those of no case that is there already. Its inputs come from the
 * public case's own generators, or else, as for a list of values, from those of the first case that
 * serve: all of one case, since inputs may belong together. */
#include "judge/near.h"

#include "base/hash.h"
#include "base/rng.h"
#include "judge/pass.h"
#include "judge/problem/generate.h"

#include <string.h>

enum { TRIES = 32, NEAREST = 2, PART = 8 };

const char NEAR_PREFIX[] = "near ";

static bool is_input(const struct problem_param *m)
{
    return m->kind == PARAM_BUFFER && (m->role == WIRE_INPUT || m->role == WIRE_INOUT);
}

/* Does every input have a generator that makes what these sizes want? */
static bool generators_serve(const struct problem *p, struct generator *const *inputs,
                             const int64_t *values, const struct case_data *data)
{
    struct err e;
    for (unsigned i = 0; i < p->param_count; i++) {
        if (!is_input(&p->params[i]))
            continue;
        uint64_t count = data->buffers[i].count;
        if (!inputs[i] && count)
            return false;
        if (inputs[i] && generator_check(inputs[i], p->params[i].type, count, values, &e) != 0)
            return false;
    }
    return true;
}

static struct generator **find_generators(const struct problem *p, unsigned own,
                                          const int64_t *values, const struct case_data *data)
{
    if (generators_serve(p, p->cases[own].inputs, values, data))
        return p->cases[own].inputs;
    for (unsigned i = 0; i < p->case_count; i++)
        if (generators_serve(p, p->cases[i].inputs, values, data))
            return p->cases[i].inputs;
    return NULL;
}

static bool same_sizes(const struct problem *p, const struct case_data *a,
                       const struct case_data *b)
{
    for (unsigned i = 0; i < p->param_count; i++)
        if (a->buffers[i].count != b->buffers[i].count)
            return false;
    return true;
}

static bool is_there(const struct problem *p, const int64_t *values)
{
    for (unsigned i = 0; i < p->case_count; i++)
        if (memcmp(p->cases[i].values, values, p->variable_count * sizeof *values) == 0)
            return true;
    return false;
}

/* Another value of variable `v`; false if there is none. */
static bool draw_value(const struct problem_variable *v, int64_t *value, uint64_t key, uint64_t try)
{
    int64_t way = *value / PART < 0 ? -(*value / PART) : *value / PART;
    way = way < NEAREST ? NEAREST : way;
    int64_t low, high;
    if (__builtin_sub_overflow(*value, way, &low) || low < v->min)
        low = v->min;
    if (__builtin_add_overflow(*value, way, &high) || high > v->max)
        high = v->max;
    if (low >= high)
        return false;
    int64_t drawn = low + (int64_t)rng_below(key, try, (uint64_t)(high - low)); /* high left out */
    *value = drawn < *value ? drawn : drawn + 1;
    return true;
}

static bool is_small(const struct problem *p, const struct case_data *data)
{
    uint64_t elements = 0;
    for (unsigned i = 0; i < p->param_count; i++)
        elements += data->buffers[i].count;
    return elements <= SIZE_NEAR;
}

/* Fills `c` for the public case number `own`; false: there is none. */
static bool near_case(const struct problem *p, unsigned own, uint64_t seed, struct arena *arena,
                      struct problem_case *c)
{
    const struct problem_case *known = &p->cases[own];
    struct case_data before, data;
    struct err e;
    uint64_t key = hash_seed(seed, known->name, 0);
    if (p->variable_count == 0 || problem_case_sizes(p, known, seed, arena, &before, &e) != 0 ||
        !is_small(p, &before))
        return false;
    int64_t *values = arena_array(arena, p->variable_count, sizeof *values);
    for (uint64_t try = 0; try < TRIES; try++) {
        unsigned v = (unsigned)rng_below(key, 2 * try, p->variable_count);
        memcpy(values, known->values, p->variable_count * sizeof *values);
        *c = (struct problem_case){.values = values, .source_line = known->source_line};
        c->name = known->name; /* until it has one: for sizes alone */
        if (!p->variables[v].near || !draw_value(&p->variables[v], &values[v], key, 2 * try + 1) ||
            is_there(p, values) || problem_case_sizes(p, c, seed, arena, &data, &e) != 0 ||
            same_sizes(p, &before, &data))
            continue;
        c->inputs = find_generators(p, own, values, &data);
        c->name = arena_printf(arena, "%s%s, %s=%lld", NEAR_PREFIX, known->name,
                               p->variables[v].name, (long long)values[v]);
        if (c->inputs)
            return true;
    }
    return false;
}

void near_add(struct problem *p, uint64_t seed, struct arena *arena)
{
    unsigned count = p->case_count;
    for (unsigned i = 0; i < count && p->case_count < PROBLEM_CASES_MAX; i++)
        if (p->cases[i].is_public && near_case(p, i, seed, arena, &p->cases[p->case_count]))
            p->case_count++;
}
