/* Recognisers about elements that were to be moved: lost, there twice, reversed, not in the order
 * of the input; runs cut in two. */
#include "judge/check/diagnose.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

const char *diagnose_reversed(const struct diagnosis_context *c)
{
    uint64_t last = c->n;
    while (last > 0 && !c->wrong_at[last - 1])
        last--;
    if (c->wrong_count < 2 || last < c->first + 3)
        return NULL;
    last--;
    for (uint64_t i = c->first; i <= last; i++)
        if (series_bits(&c->got, i) != series_bits(&c->expected, c->first + last - i))
            return NULL;
    return arena_printf(c->arena,
                        "`%s` holds the right elements from index %" PRIu64 " to %" PRIu64
                        ", in reverse order",
                        c->view->name, c->first, last);
}

/* Elements [from, to) of both, as multisets. */
static bool same_set(const struct diagnosis_context *c, uint64_t from, uint64_t to)
{
    struct series got = c->got, want = c->expected;
    got.bytes += from * got.size;
    want.bytes += from * want.size;
    uint64_t n = to - from, *a = sorted_bits(&got, n), *b = sorted_bits(&want, n);
    bool same = memcmp(a, b, n * sizeof *a) == 0;
    free(a);
    free(b);
    return same;
}

/* Keys are another output, which is right; neighbours in it that are equal form a group. */
static bool wrong_within_groups(const struct diagnosis_context *c, const struct series *keys)
{
    uint64_t groups = 0;
    for (uint64_t from = 0, to; from < c->n; from = to) {
        bool wrong = c->wrong_at[from];
        for (to = from + 1; to < c->n && series_bits(keys, to) == series_bits(keys, from); to++)
            wrong = wrong || c->wrong_at[to];
        groups++;
        if (wrong && !same_set(c, from, to))
            return false;
    }
    return groups > 1;
}

const char *diagnose_not_stable(const struct diagnosis_context *c)
{
    for (unsigned v = 0; v < c->view_count; v++) {
        const struct output_view *keys = &c->views[v];
        if (v == c->wrong || c->differences[v].count || keys->compared != c->n || c->n < 2 ||
            !wrong_within_groups(c, &keys->expected))
            continue;
        return arena_printf(c->arena,
                            "`%s` is right, and behind each of its values `%s` holds the right "
                            "elements in another order: probably not stable",
                            keys->name, c->view->name);
    }
    return NULL;
}

/* ---- runs ---- */

/* How many runs of equal elements there are if every multiple of `tile` begins one; tile 0: none
 * does. */
static uint64_t count_runs(const struct series *in, uint64_t tile)
{
    uint64_t runs = 0;
    for (uint64_t i = 0; i < in->count; i++)
        runs += i == 0 || series_bits(in, i) != series_bits(in, i - 1) || (tile && i % tile == 0);
    return runs;
}

const char *diagnose_runs_cut(const struct diagnosis_context *c)
{
    const struct problem *p = c->data->problem;
    if (c->n != 1 || series_is_float(&c->expected))
        return NULL;
    uint64_t got = (uint64_t)series_int(&c->got, 0);
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct case_buffer *buffer = &c->data->buffers[i];
        if (p->params[i].kind != PARAM_BUFFER || !buffer->input || buffer->count < 2)
            continue;
        struct series in = series_of(buffer->input, p->params[i].type, buffer->count);
        uint64_t runs = count_runs(&in, 0);
        if (runs != (uint64_t)series_int(&c->expected, 0) || got <= runs)
            continue;
        for (uint64_t tile = 32; tile <= 8192 && tile < in.count; tile *= 2)
            if (count_runs(&in, tile) == got)
                return arena_printf(c->arena,
                                    "%" PRIu64 " runs too many, as many as there would be if every "
                                    "tile of %" PRIu64 " began one: probably runs that go on over "
                                    "the end of a tile are counted twice",
                                    got - runs, tile);
    }
    return NULL;
}
