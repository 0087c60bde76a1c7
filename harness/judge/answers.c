/* Only expected answers are copied; inputs are made again from the seed when they are asked for. */
#include "judge/answers.h"

#include <string.h>

static const uint64_t CASE_BYTES_MAX = (uint64_t)1 << 22;

void answers_init(struct answers *a, const struct problem *p)
{
    pthread_mutex_init(&a->lock, NULL);
    arena_init(&a->arena);
    a->case_count = p->case_count;
    a->kept = arena_array(&a->arena, p->case_count, sizeof(uint8_t **));
}

void answers_release(struct answers *a)
{
    pthread_mutex_destroy(&a->lock);
    arena_release(&a->arena);
}

static uint64_t bytes_of(const struct case_data *data)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < data->problem->param_count; i++)
        bytes += data->buffers[i].bytes;
    return bytes;
}

/* Another load of the same spec may have made `data`: the name says which case it is. */
static void keep(struct answers *a, const struct case_data *data, unsigned index)
{
    const struct problem *p = data->problem;
    a->kept[index] = arena_array(&a->arena, p->param_count, sizeof(uint8_t *));
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct case_buffer *b = &data->buffers[i];
        if (!problem_is_output(&p->params[i]))
            continue;
        a->kept[index][i] = arena_alloc(&a->arena, b->bytes + 1);
        if (b->bytes)
            memcpy(a->kept[index][i], b->expected, b->bytes);
    }
}

void answers_keep(void *answers, const struct case_data *data)
{
    struct answers *a = answers;
    if (bytes_of(data) > CASE_BYTES_MAX)
        return;
    for (unsigned i = 0; i < a->case_count; i++) /* what a judging adds is behind them */
        if (strcmp(data->problem->cases[i].name, data->instance->name) == 0) {
            pthread_mutex_lock(&a->lock);
            keep(a, data, i);
            pthread_mutex_unlock(&a->lock);
        }
}

/* Points every buffer at memory of the arena. */
static void give_memory(struct case_data *data, struct arena *arena)
{
    for (unsigned i = 0; i < data->problem->param_count; i++) {
        const struct problem_param *m = &data->problem->params[i];
        struct case_buffer *b = &data->buffers[i];
        if (m->kind == PARAM_BUFFER && (m->role == WIRE_INPUT || m->role == WIRE_INOUT))
            b->input = arena_alloc(arena, b->bytes + 64);
        if (problem_is_output(m))
            b->expected = arena_alloc(arena, b->bytes + 64);
    }
}

int answers_by_oracle(struct answers *a, const struct problem *p, uint64_t seed, struct err *e)
{
    int status = 0;
    for (unsigned i = 0; i < p->case_count && status == 0; i++) {
        struct arena arena;
        struct case_data data;
        arena_init(&arena);
        status = problem_case_sizes(p, &p->cases[i], seed, &arena, &data, e);
        if (status == 0 && bytes_of(&data) <= CASE_BYTES_MAX) {
            give_memory(&data, &arena);
            problem_case_fill(&data);
            status = oracle_expected(&data, e);
            if (status == 0)
                keep(a, &data, i);
        }
        arena_release(&arena);
    }
    return status;
}

bool answers_sizes(const struct answers *a, const struct problem *p, unsigned index, uint64_t seed,
                   struct arena *arena, struct case_data *data)
{
    struct err e;
    if (!a->kept[index])
        return false;
    if (problem_case_sizes(p, &p->cases[index], seed, arena, data, &e) != 0)
        BUG("a case that was judged has no sizes: %s", e.text);
    for (unsigned i = 0; i < p->param_count; i++)
        data->buffers[i].expected = a->kept[index][i];
    return true;
}

bool answers_case(const struct answers *a, const struct problem *p, unsigned index, uint64_t seed,
                  struct arena *arena, struct case_data *data)
{
    if (!answers_sizes(a, p, index, seed, arena, data))
        return false;
    give_memory(data, arena);
    problem_case_fill(data);
    for (unsigned i = 0; i < p->param_count; i++)
        if (a->kept[index][i] && data->buffers[i].bytes)
            memcpy(data->buffers[i].expected, a->kept[index][i], data->buffers[i].bytes);
    return true;
}
