/* Recognisers about elements that were to be moved: lost, there twice. */
#include "judge/check/diagnose.h"

#include <inttypes.h>
#include <stdlib.h>

/* The bits of all elements, sorted; free() it. */
static uint64_t *sorted_bits(const struct series *s, uint64_t n)
{
    uint64_t *values = malloc((2 * n + 1) * sizeof *values);
    if (!values)
        BUG("no memory to sort %" PRIu64 " values", n);
    for (uint64_t i = 0; i < n; i++)
        values[i] = series_bits(s, i);
    compare_sort(values, values + n, n);
    return values;
}

/* How the sorted `got` differs from the sorted `want`: elements that are wanted, but less often;
 * elements that are not wanted at all. As many of `want` are missing in all. */
static void count_surplus(const uint64_t *got, const uint64_t *want, uint64_t n, uint64_t *repeated,
                          uint64_t *foreign)
{
    *repeated = *foreign = 0;
    for (uint64_t i = 0, j = 0; i < n;) {
        uint64_t value = got[i], have = 0, need = 0;
        while (i < n && got[i] == value)
            i++, have++;
        while (j < n && want[j] < value)
            j++;
        while (j < n && want[j] == value)
            j++, need++;
        if (need == 0)
            *foreign += have;
        else if (have > need)
            *repeated += have - need;
    }
}

const char *diagnose_repeated(const struct diagnosis_context *c)
{
    if (c->view->check->compare != COMPARE_any_order &&
        c->view->check->compare != COMPARE_prefix_any_order)
        return NULL;
    uint64_t *got = sorted_bits(&c->got, c->n), *want = sorted_bits(&c->expected, c->n);
    uint64_t repeated, foreign;
    count_surplus(got, want, c->n, &repeated, &foreign);
    free(got);
    free(want);
    if (repeated + foreign == 0)
        return NULL;
    const char *missing = arena_printf(c->arena, "%" PRIu64 " elements of `%s` are missing",
                                       repeated + foreign, c->view->name);
    if (foreign == 0)
        return arena_printf(c->arena, "%s, and as many are repeated", missing);
    return arena_printf(c->arena,
                        "%s; in their places stand %" PRIu64 " values that do not belong there and "
                        "%" PRIu64 " that are repeated: probably places that were given away "
                        "twice, so that others stayed empty",
                        missing, foreign, repeated);
}
