/* Recognisers about scans with other operators than a sum: where a maximum begins, and in which
 * order maps were put together. */
#include "judge/check/diagnose.h"

#include <inttypes.h>

/* ---- a running maximum ---- */

const char *diagnose_identity_zero(const struct diagnosis_context *c)
{
    if (wire_type_kind(c->view->got.type) != 's' || c->n == 0)
        return NULL;
    for (uint64_t i = 0; i < c->n; i++) {
        int64_t right = series_int(&c->expected, i);
        bool descends = i > 0 && right < series_int(&c->expected, i - 1);
        bool fits = !c->wrong_at[i] || (right < 0 && series_int(&c->got, i) == 0);
        if (descends || !fits)
            return NULL;
    }
    return arena_printf(c->arena,
                        "`%s` is 0 wherever the right maximum is below 0, and right elsewhere: "
                        "the scan probably begins with 0, which is not the identity of a maximum",
                        c->view->name);
}

/* ---- maps in order ---- */

static struct series input_of(const struct diagnosis_context *c, unsigned param)
{
    const struct case_buffer *b = &c->data->buffers[param];
    const struct problem_param *m = &c->data->problem->params[param];
    if (m->kind != PARAM_BUFFER || !b->input || m->type != c->expected.type || b->count < c->n)
        return (struct series){0};
    return series_of(b->input, m->type, b->count);
}

/* values[i + 1] == scale[i] * values[i] + shift[i], modulo what the type holds; no shift: 0. */
static bool is_recurrence(const struct series *values, uint64_t n, const struct series *scale,
                          const struct series *shift)
{
    uint64_t mask = UINT64_MAX >> (64 - 8 * values->size);
    for (uint64_t i = 0; i + 1 < n; i++) {
        uint64_t next = (uint64_t)series_int(scale, i) * (uint64_t)series_int(values, i) +
                        (shift ? (uint64_t)series_int(shift, i) : 0);
        if ((next & mask) != series_bits(values, i + 1))
            return false;
    }
    return true;
}

/* Another output that is right and holds the products of `scale`. */
static const char *right_products(const struct diagnosis_context *c, const struct series *scale)
{
    for (unsigned v = 0; v < c->view_count; v++) {
        const struct output_view *other = &c->views[v];
        if (v == c->wrong || c->differences[v].count || other->expected.type != scale->type ||
            other->compared < c->n || series_int(&other->expected, 0) == 0)
            continue;
        if (is_recurrence(&other->expected, c->n, scale, NULL))
            return other->name;
    }
    return NULL;
}

const char *diagnose_operands_swapped(const struct diagnosis_context *c)
{
    unsigned params = c->data->problem->param_count;
    if (c->n < 3 || series_is_float(&c->expected))
        return NULL;
    for (unsigned a = 0; a < params; a++) {
        struct series scale = input_of(c, a);
        const char *products = scale.bytes ? right_products(c, &scale) : NULL;
        for (unsigned b = 0; products && b < params; b++) {
            struct series shift = input_of(c, b);
            if (!shift.bytes || !is_recurrence(&c->expected, c->n, &scale, &shift))
                continue;
            return arena_printf(c->arena,
                                "`%s` is right and `%s` is not, from index %" PRIu64
                                " on: products do not depend on the order of the operands, maps "
                                "do, so somewhere the later one probably stands on the left",
                                products, c->view->name, c->first);
        }
    }
    return NULL;
}
