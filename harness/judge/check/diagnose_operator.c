/* Recognisers about scans with other operators than a sum: where a maximum begins, and in which
 * order maps were put together. */
#include "judge/check/diagnose.h"

#include <inttypes.h>
#include <math.h>

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

/* ---- segments ---- */

struct segmented {
    struct series in, heads;
    const char *heads_name;
    uint64_t heads_count; /* past index 0 */
};

static bool is_head(const struct segmented *s, uint64_t i)
{
    return i == 0 || series_int(&s->heads, i) != 0;
}

/* Is sums[i] = (0 at a head, else sums[i - 1]) + in[i], at this i? */
static bool goes_on(const struct segmented *s, const struct series *sums, uint64_t i)
{
    return i > 0 && diagnosis_adds_up(sums, i - 1, &s->in, i, sums, i);
}

static bool starts_again(const struct segmented *s, const struct series *sums, uint64_t i)
{
    return series_bits(sums, i) == series_bits(&s->in, i);
}

/* The inputs that `expected` is a segmented sum of. There must be a head, or nothing tells them. */
static bool find_segmented(const struct diagnosis_context *c, struct segmented *s)
{
    const struct problem *p = c->data->problem;
    for (unsigned a = 0; a < p->param_count; a++) {
        s->in = input_of(c, a);
        for (unsigned b = 0; s->in.bytes && b < p->param_count; b++) {
            const struct case_buffer *buffer = &c->data->buffers[b];
            enum wire_type type = p->params[b].type;
            if (a == b || p->params[b].kind != PARAM_BUFFER || !buffer->input ||
                buffer->count < c->n || wire_type_kind(type) == 'f')
                continue;
            s->heads = series_of(buffer->input, type, buffer->count);
            s->heads_name = p->params[b].name;
            s->heads_count = 0;
            uint64_t i = 0;
            for (; i < c->n; i++) {
                bool head = is_head(s, i);
                s->heads_count += head && i > 0;
                if (head ? !starts_again(s, &c->expected, i) : !goes_on(s, &c->expected, i))
                    break;
            }
            if (i == c->n && s->heads_count)
                return true;
        }
    }
    return false;
}

const char *diagnose_heads_ignored(const struct diagnosis_context *c)
{
    struct segmented s;
    uint64_t ignored = 0, first = 0;
    if (c->n < 2 || !find_segmented(c, &s))
        return NULL;
    for (uint64_t i = 0; i < c->n; i++) {
        bool head = is_head(&s, i);
        if (head && starts_again(&s, &c->got, i))
            continue;
        if (!goes_on(&s, &c->got, i))
            return NULL;
        if (head && ignored++ == 0)
            first = i;
    }
    if (ignored == 0)
        return NULL;
    if (ignored == s.heads_count)
        return arena_printf(
            c->arena, "a plain prefix sum: none of the %" PRIu64 " heads in `%s` starts a segment",
            ignored, s.heads_name);
    return arena_printf(c->arena,
                        "%" PRIu64 " of %" PRIu64 " heads in `%s` start no segment, the first at "
                        "index %s; at all others, and between them, the sums are right",
                        ignored, s.heads_count, s.heads_name, diagnosis_index(c, first));
}

const char *diagnose_segment_cut(const struct diagnosis_context *c)
{
    struct segmented s;
    uint64_t cuts = 0, first = 0;
    if (c->n < 2 || !find_segmented(c, &s))
        return NULL;
    for (uint64_t i = 0; i < c->n; i++) {
        if (!is_head(&s, i) && goes_on(&s, &c->got, i))
            continue;
        if (!starts_again(&s, &c->got, i))
            return NULL;
        if (!is_head(&s, i) && cuts++ == 0)
            first = i;
    }
    if (cuts == 0)
        return NULL;
    return arena_printf(c->arena,
                        "a segment starts again at index %s, where `%s` has no head (%" PRIu64
                        " such places): what it holds before is lost",
                        diagnosis_index(c, first), s.heads_name, cuts);
}

/* ---- rounding ---- */

const char *diagnose_rounding(const struct diagnosis_context *c)
{
    if (c->view->check->compare != COMPARE_scan_error_bound || c->relation == RELATION_EXCLUSIVE)
        return NULL;
    double largest = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        double right = series_double(&c->expected, i);
        double off = fabs(series_double(&c->got, i) - right);
        if (!c->wrong_at[i])
            continue;
        if (!(off <= 0.02 * fabs(right)))
            return NULL;
        largest = fmax(largest, off / fabs(right));
    }
    return arena_printf(c->arena,
                        "every wrong value is near the right one, off by at most %.2g of it: "
                        "probably rounding, by sums in too few bits or in one long chain",
                        largest);
}
