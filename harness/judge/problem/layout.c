/* One case made concrete: sizes, scalars and the contents of its inputs.
 *
 * Shapes are evaluated first, then scalar values, which may use bytes(x). Each input has its own
 * stream of random numbers, keyed by (seed, case name, parameter name). */
#include "base/hash.h"
#include "judge/problem/number.h"
#include "judge/problem/spec.h"

enum { MISALIGN_MAX = 255 };

static int evaluate_size(const char *name, const struct expr *x, const struct expr_values *values,
                         int64_t *v, struct err *e)
{
    struct err inner;
    if (expr_eval(x, values, v, &inner) != 0)
        return err_set(e, "%s: %.600s", name, inner.text);
    if (*v < 0)
        return err_set(e, "%s: '%.200s' is %lld, and a size is at least 0", name, expr_text(x),
                       (long long)*v);
    return 0;
}

static int evaluate_buffer(const struct problem_param *m, const struct expr_values *values,
                           struct case_buffer *b, struct err *e)
{
    int64_t v = 0;
    *b = (struct case_buffer){.count = 1};
    for (unsigned i = 0; i < m->shape_rank; i++) {
        if (evaluate_size(m->name, m->shape[i], values, &v, e) != 0)
            return -1;
        if (__builtin_mul_overflow(b->count, (uint64_t)v, &b->count))
            return err_set(e, "%s: its number of elements overflows 64 bits", m->name);
    }
    if (m->bytes) { /* a workspace; its elements, if it has a type, are whole */
        if (evaluate_size(m->name, m->bytes, values, &v, e) != 0)
            return -1;
        b->bytes = (uint64_t)v;
        b->count = b->bytes / wire_type_bytes(m->type);
    } else if (__builtin_mul_overflow(b->count, (uint64_t)wire_type_bytes(m->type), &b->bytes) ||
               b->bytes > INT64_MAX) {
        return err_set(e, "%s: its size overflows 64 bits", m->name);
    }
    if (m->misalign) {
        if (evaluate_size(m->name, m->misalign, values, &v, e) != 0)
            return -1;
        if (v > MISALIGN_MAX || v % wire_type_bytes(m->type) != 0)
            return err_set(e,
                           "%s: misalign is %lld, and whole elements of at most 255 bytes "
                           "are allowed",
                           m->name, (long long)v);
        b->misalign = (uint32_t)v;
    }
    return 0;
}

static int evaluate_scalar(const struct problem_param *m, const struct expr_values *values,
                           uint64_t *bits, struct err *e)
{
    int64_t v = 0;
    struct err inner;
    if (expr_eval(m->value, values, &v, &inner) != 0)
        return err_set(e, "%s: %.600s", m->name, inner.text);
    if (v < number_min(m->type) || v > number_max(m->type))
        return err_set(e, "%s: '%.200s' is %lld, which %s does not hold", m->name,
                       expr_text(m->value), (long long)v, wire_type_name(m->type));
    unsigned width = wire_type_bytes(m->type) * 8;
    *bits = number_is_float(m->type) ? number_from_double(m->type, (double)v) : (uint64_t)v;
    if (width < 64)
        *bits &= ((uint64_t)1 << width) - 1;
    return 0;
}

int layout_evaluate(const struct problem *p, const int64_t *values, struct case_buffer *buffers,
                    uint64_t *scalars, struct err *e)
{
    uint64_t bytes[WIRE_PARAMS_MAX] = {0};
    struct expr_values v = {.variables = values, .buffer_bytes = bytes};
    for (unsigned i = 0; i < p->param_count; i++) {
        if (p->params[i].kind != PARAM_BUFFER)
            continue;
        if (evaluate_buffer(&p->params[i], &v, &buffers[i], e) != 0)
            return -1;
        bytes[i] = buffers[i].bytes;
    }
    for (unsigned i = 0; i < p->param_count; i++)
        if (p->params[i].kind == PARAM_SCALAR &&
            evaluate_scalar(&p->params[i], &v, &scalars[i], e) != 0)
            return -1;
    return 0;
}

int layout_check_memory(const struct problem *p, const struct case_buffer *buffers, struct err *e)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < p->param_count; i++)
        if (p->params[i].kind == PARAM_BUFFER &&
            __builtin_add_overflow(total, buffers[i].bytes, &total))
            total = UINT64_MAX;
    if (total > p->limits.memory_bytes)
        return err_set(e, "its buffers take %llu bytes, and the memory limit is %llu",
                       (unsigned long long)total, (unsigned long long)p->limits.memory_bytes);
    return 0;
}

int problem_case_sizes(const struct problem *p, const struct problem_case *c, uint64_t seed,
                       struct arena *arena, struct case_data *data, struct err *e)
{
    *data = (struct case_data){.problem = p, .instance = c, .seed = seed};
    data->buffers = arena_array(arena, p->param_count, sizeof *data->buffers);
    data->scalars = arena_array(arena, p->param_count, sizeof *data->scalars);
    struct err inner;
    if (layout_evaluate(p, c->values, data->buffers, data->scalars, &inner) != 0 ||
        layout_check_memory(p, data->buffers, &inner) != 0)
        return err_set(e, "%s:%u: case '%s': %.700s", p->file, c->source_line, c->name, inner.text);
    return 0;
}

/* A hash, since a submission sees the data: from numbers of the full range it could work back to
 * the key of one input, but not from there to the seed and to the data of other cases. */
static uint64_t key_of_input(const struct case_data *data, const char *param)
{
    struct hash h;
    hash_init(&h);
    hash_part(&h, &data->seed, sizeof data->seed);
    hash_str(&h, data->instance->name);
    hash_str(&h, param);
    return hash_number(&h);
}

void problem_case_fill(struct case_data *data)
{
    const struct problem *p = data->problem;
    const struct problem_case *c = data->instance;
    for (unsigned i = 0; i < p->param_count; i++)
        if (c->inputs[i] && data->buffers[i].input)
            generator_fill(c->inputs[i], p->params[i].type, data->buffers[i].count, c->values,
                           key_of_input(data, p->params[i].name), data->buffers[i].input);
}

void problem_case_answers(struct case_data *data)
{
    const struct problem *p = data->problem;
    const struct problem_case *c = data->instance;
    for (unsigned i = 0; i < p->param_count; i++)
        if (c->answers[i] && data->buffers[i].expected)
            generator_fill(c->answers[i], p->params[i].type, data->buffers[i].count, c->values, 0,
                           data->buffers[i].expected);
}
