/* Recognisers about what is padded to whole blocks. */
#include "judge/check/diagnose.h"

#include <inttypes.h>

/* Are all values multiples, and at least two of them different ones other than 0? */
static bool all_multiples(const struct series *s, uint64_t count, int64_t of)
{
    int64_t one = 0;
    bool two = false;
    for (uint64_t i = 0; i < count; i++) {
        int64_t value = series_int(s, i);
        if (value % of != 0)
            return false;
        two = two || (one && value && value != one);
        one = one ? one : value;
    }
    return two;
}

/* Every right value is a multiple of a parameter, and the first wrong one is not, but would be
 * right if it were rounded up to one. */
const char *diagnose_not_rounded_up(const struct diagnosis_context *c)
{
    const struct problem *p = c->data->problem;
    if (series_is_float(&c->expected) || c->n < 2 || c->untouched[c->first])
        return NULL;
    int64_t got = series_int(&c->got, c->first);
    int64_t short_by = series_int(&c->expected, c->first) - got;
    if (got < 0 || short_by <= 0)
        return NULL;
    int64_t unit =
        0; /* the largest that fits; of equal ones the last, as sizes mostly come first */
    const char *name = NULL;
    for (unsigned i = 0; i < p->param_count; i++) {
        if (p->params[i].kind != PARAM_SCALAR || c->data->scalars[i] < 2 ||
            c->data->scalars[i] > INT32_MAX)
            continue;
        int64_t value = (int64_t)c->data->scalars[i];
        if (value < unit || short_by >= value || !all_multiples(&c->expected, c->n, value))
            continue;
        unit = value;
        name = p->params[i].name;
    }
    if (!name)
        return NULL;
    return arena_printf(c->arena,
                        "every right value is a multiple of %s (%" PRId64 "), and %" PRId64
                        " at index %" PRIu64
                        " is not: rounding up before the scan is probably missing",
                        name, unit, got, c->first);
}
