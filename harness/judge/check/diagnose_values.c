/* A compaction whose order is right and whose choice is not: some elements that belong into the
 * output are missing, or some are there that do not. If they are all of one kind, and the others of
 * that kind are treated the same way, the test of what is kept treats the kind wrongly. */
#include "judge/check/diagnose.h"

#include <inttypes.h>
#include <math.h>

enum { FEW = 4 }; /* single elements that are named although they have nothing in common */

/* ---- kinds of values ---- */

static bool is_infinite(const struct series *s, uint64_t i)
{
    return isinf(series_double(s, i));
}

static bool is_zero(const struct series *s, uint64_t i)
{
    return series_double(s, i) == 0;
}

static bool is_negative(const struct series *s, uint64_t i)
{
    return series_double(s, i) < 0;
}

/* Not 0, and the exponent's bits are: less than the smallest number in full precision. */
static bool is_subnormal(const struct series *s, uint64_t i)
{
    int mantissa_bits = (int)-log2(float_unit(s->type)) - 1;
    double value = fabs(series_double(s, i));
    return value > 0 && value < float_decode(s->type, (uint64_t)1 << mantissa_bits);
}

static const struct kind {
    const char *one, *many;
    bool floats_only;
    bool (*holds)(const struct series *s, uint64_t i);
} KINDS[] = {
    {"infinity", "infinities", true, is_infinite},
    {"NaN", "NaNs", true, series_is_nan},
    {"subnormal number", "subnormal numbers", true, is_subnormal},
    {"zero", "zeros", false, is_zero},
    {"negative number", "negative numbers", false, is_negative},
};
enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

static bool has_kind(const struct series *s, uint64_t i, unsigned kind)
{
    return (series_is_float(s) || !KINDS[kind].floats_only) && KINDS[kind].holds(s, i);
}

/* ---- what is missing ---- */

/* The output that is compared up to a count, and how many elements the submission says it has.
 * NULL: there is none, or the number is out of range. */
static const struct output_view *counted(const struct diagnosis_context *c, uint64_t *got_count)
{
    const struct output_view *data = NULL, *count = NULL;
    for (unsigned v = 0; v < c->view_count; v++)
        if (c->views[v].check->compare == COMPARE_prefix)
            data = &c->views[v];
    for (unsigned v = 0; data && v < c->view_count; v++)
        if ((int)c->views[v].check->param == data->check->count_param)
            count = &c->views[v];
    if (!count || count->got.count != 1)
        return NULL;
    int64_t said = series_int(&count->got, 0);
    if (said < 0 || (uint64_t)said > data->got.count)
        return NULL;
    *got_count = (uint64_t)said;
    return data;
}

struct left_out {
    uint64_t count, first; /* elements of the longer series, the first one's index */
    int kind;              /* that all of them have, and no other element; -1 = none */
};

/* Is `part` what is left of `whole` when some elements are taken out, and not just its beginning?
 */
static bool find_left_out(const struct series *whole, uint64_t whole_count,
                          const struct series *part, uint64_t part_count, struct left_out *out)
{
    uint32_t of_all = (1u << KIND_COUNT) - 1, of_others = 0;
    uint64_t at = 0;
    *out = (struct left_out){.kind = -1};
    if (part_count == 0)
        return false;
    for (uint64_t i = 0; i < whole_count; i++) {
        uint32_t kinds = 0;
        for (unsigned k = 0; k < KIND_COUNT; k++)
            kinds |= (uint32_t)has_kind(whole, i, k) << k;
        if (at < part_count && series_bits(whole, i) == series_bits(part, at)) {
            of_others |= kinds;
            at++;
            continue;
        }
        out->first = out->count++ ? out->first : i;
        of_all &= kinds;
    }
    for (int k = 0; k < KIND_COUNT; k++)
        if ((of_all & ~of_others) >> k & 1)
            out->kind = k;
    return at == part_count && out->count > 0 && (out->kind >= 0 || out->first < part_count);
}

const char *diagnose_elements_missing(const struct diagnosis_context *c)
{
    uint64_t got_count;
    struct left_out missing;
    const struct output_view *data = counted(c, &got_count);
    if (!data || !find_left_out(&data->expected, data->compared, &data->got, got_count, &missing))
        return NULL;
    if (missing.kind >= 0)
        return arena_printf(c->arena,
                            "every %s that belongs into `%s` is missing (%" PRIu64
                            " in all), and everything else is right: the test of what is kept "
                            "rejects it",
                            KINDS[missing.kind].one, data->name, missing.count);
    if (missing.count > FEW)
        return NULL;
    return arena_printf(
        c->arena,
        "%" PRIu64 " element%s missing from `%s`, and everything else is right and "
        "in order: the first is the one that belongs at index %s, %s",
        missing.count, missing.count == 1 ? " is" : "s are", data->name,
        diagnosis_index(c, missing.first),
        value_print(data->expected.type, series_bits(&data->expected, missing.first), c->arena));
}

const char *diagnose_elements_extra(const struct diagnosis_context *c)
{
    uint64_t got_count;
    struct left_out extra;
    const struct output_view *data = counted(c, &got_count);
    if (!data || !find_left_out(&data->got, got_count, &data->expected, data->compared, &extra) ||
        extra.kind < 0)
        return NULL;
    return arena_printf(c->arena,
                        "`%s` also holds %s (%" PRIu64
                        " in all), and everything else is right: the "
                        "test of what is kept lets them pass",
                        data->name, KINDS[extra.kind].many, extra.count);
}
