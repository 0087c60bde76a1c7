/* One function per row of compare.def. Each starts with memcmp, which settles a right answer at the
 * speed of memory; elements are looked at only when it differs. */
#include "judge/check/compare.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void compare_function(const struct output_view *view, struct difference *difference);

static void note(struct difference *difference, uint64_t index)
{
    if (difference->count++ == 0)
        difference->first = index;
    if (difference->wrong_at)
        difference->wrong_at[index] = 1;
}

static bool same_bytes(const struct output_view *view, uint64_t from, uint64_t to)
{
    unsigned size = view->got.size;
    return to <= from || memcmp(view->got.bytes + from * size, view->expected.bytes + from * size,
                                (to - from) * size) == 0;
}

/* Elements [from, to), bit for bit. Blocks that agree as a whole are skipped. */
static void compare_bits(const struct output_view *view, uint64_t from, uint64_t to,
                         struct difference *difference)
{
    enum { BLOCK = 4096 };
    for (uint64_t block = from; block < to; block += BLOCK) {
        uint64_t end = to - block > BLOCK ? block + BLOCK : to;
        if (same_bytes(view, block, end))
            continue;
        for (uint64_t i = block; i < end; i++)
            if (series_bits(&view->got, i) != series_bits(&view->expected, i))
                note(difference, i);
    }
}

static void compare_exact(const struct output_view *view, struct difference *difference)
{
    compare_bits(view, 0, view->compared, difference);
}

/* The input that the output scans: the buffer itself when it is scanned in place, else the first
 * input of the same type with at least as many elements. */
static struct series scanned_input(const struct output_view *view)
{
    const struct problem *p = view->data->problem;
    for (int in_place = 1; in_place >= 0; in_place--)
        for (unsigned i = 0; i < p->param_count; i++) {
            const struct case_buffer *buffer = &view->data->buffers[i];
            if (p->params[i].kind != PARAM_BUFFER || !buffer->input ||
                (in_place && i != view->check->param))
                continue;
            if (p->params[i].type == view->got.type && buffer->count >= view->compared)
                return series_of(buffer->input, p->params[i].type, buffer->count);
        }
    return (struct series){0};
}

/* |got - exact| <= (2 ceil(log2 n) + n / 1024 + 16) u prefix_sum(|x|). The prefix includes x[i], so
 * one bound serves inclusive and exclusive scans. As long as all x are whole numbers and that sum
 * is at most 1 / u, every order of additions is exact: then, and without an input to take the sums
 * from, only equal values pass. */
static void compare_scan_error_bound(const struct output_view *view, struct difference *difference)
{
    if (same_bytes(view, 0, view->compared))
        return;
    uint64_t n = view->compared;
    struct series in = scanned_input(view);
    uint64_t thousands = n / 1024;
    double factor = 2 * ceil(log2(n > 1 ? (double)n : 1.0)) + (double)thousands + 16;
    double unit = float_unit(view->got.type), sum = 0;
    bool whole = true;
    for (uint64_t i = 0; i < n; i++) {
        double x = in.bytes ? series_double(&in, i) : 0;
        whole = whole && x == rint(x);
        sum += fabs(x);
        double exact = series_double(&view->expected, i), got = series_double(&view->got, i);
        if (got == exact) /* also equal infinities */
            continue;
        bool exactly = whole && unit * sum <= 1;
        if (exactly || !(fabs(got - exact) <= factor * unit * sum) || isinf(got))
            note(difference, i);
    }
}

static void compare_ulp(const struct output_view *view, struct difference *difference)
{
    if (same_bytes(view, 0, view->compared))
        return;
    enum wire_type type = view->got.type;
    for (uint64_t i = 0; i < view->compared; i++) {
        uint64_t got = series_bits(&view->got, i), want = series_bits(&view->expected, i);
        if (got == want)
            continue;
        bool got_nan = series_is_nan(&view->got, i), want_nan = series_is_nan(&view->expected, i);
        if (got_nan || want_nan) {
            if (got_nan != want_nan)
                note(difference, i);
            continue;
        }
        /* Orders of finite values are below 2^63 / 2, so that the distance cannot overflow for
         * float32 and smaller; float64 may, which unsigned arithmetic settles. */
        int64_t a = float_order(type, got), b = float_order(type, want);
        uint64_t distance = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
        if (distance > (uint64_t)view->check->ulps)
            note(difference, i);
    }
}

void compare_sort(uint64_t *values, uint64_t *scratch, uint64_t count)
{
    uint64_t *from = values, *to = scratch;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        uint64_t start[256] = {0}, sum = 0;
        for (uint64_t i = 0; i < count; i++)
            start[from[i] >> shift & 255]++;
        if (count == 0 || start[from[0] >> shift & 255] == count)
            continue;
        for (unsigned d = 0; d < 256; d++) {
            uint64_t here = start[d];
            start[d] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < count; i++)
            to[start[from[i] >> shift & 255]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values)
        memcpy(values, from, count * sizeof *values);
}

static uint64_t *allocate_values(uint64_t count)
{
    uint64_t *values = malloc((count ? count : 1) * sizeof *values);
    if (!values)
        BUG("no memory to sort %llu values", (unsigned long long)count);
    return values;
}

/* The sum of a secret function of each element: the same for two multisets of elements if they are
 * equal, and otherwise with a chance of 2^-64 or so. Nobody who wrote the elements knows the keys.
 */
struct fingerprint {
    uint64_t sums[2];
};

static struct fingerprint fingerprint_of(const struct series *s, uint64_t from, uint64_t to,
                                         const uint64_t keys[2])
{
    struct fingerprint f = {{0, 0}};
    for (uint64_t i = from; i < to; i++) {
        uint64_t bits = series_bits(s, i);
        f.sums[0] += rng_mix(bits ^ keys[0]);
        f.sums[1] += rng_mix(bits ^ keys[1]);
    }
    return f;
}

/* Of many elements: sorting them takes a hundred times as long. Equal is equal; who differs is
 * sorted to say where. */
static bool same_fingerprints(const struct output_view *view, uint64_t from, uint64_t to)
{
    enum { MANY = 1 << 16 };
    if (to - from < MANY)
        return false;
    const uint64_t keys[2] = {rng_secret_seed(), rng_secret_seed()};
    struct fingerprint got = fingerprint_of(&view->got, from, to, keys);
    struct fingerprint want = fingerprint_of(&view->expected, from, to, keys);
    return got.sums[0] == want.sums[0] && got.sums[1] == want.sums[1];
}

/* Elements [from, to) as multisets. Wrong are those of `got` that `expected` does not hold (so
 * often); `first` is the place of one of them in `got`. */
static void compare_sets(const struct output_view *view, uint64_t from, uint64_t to,
                         struct difference *difference)
{
    if (same_bytes(view, from, to) || same_fingerprints(view, from, to))
        return;
    uint64_t n = to - from, extra = 0, extra_count = 0;
    uint64_t *got = allocate_values(n), *want = allocate_values(n), *scratch = allocate_values(n);
    for (uint64_t i = 0; i < n; i++) {
        got[i] = series_bits(&view->got, from + i);
        want[i] = series_bits(&view->expected, from + i);
    }
    compare_sort(got, scratch, n);
    compare_sort(want, scratch, n);
    for (uint64_t i = 0, j = 0; i < n; i++) {
        while (j < n && want[j] < got[i])
            j++;
        if (j < n && want[j] == got[i]) {
            j++;
            continue;
        }
        if (extra_count++ == 0)
            extra = got[i];
    }
    if (extra_count) {
        uint64_t at = from;
        /* The last of its kind: with duplicates, the surplus one is more likely there. The buffer
         * may change under us (the box maps it too), so the loop has an end of its own. */
        for (uint64_t i = from; i < to; i++)
            if (series_bits(&view->got, i) == extra)
                at = i;
        note(difference, at);
        difference->count += extra_count - 1;
    }
    free(got);
    free(want);
    free(scratch);
}

static void compare_any_order(const struct output_view *view, struct difference *difference)
{
    compare_sets(view, 0, view->compared, difference);
}

/* Groups are [offsets[g], offsets[g + 1]), the last one ends with the buffer; what lies before the
 * first is compared in order. The offsets are the expected ones where the submission computes them.
 */
static void compare_any_order_within(const struct output_view *view, struct difference *difference)
{
    unsigned param = (unsigned)view->check->group_param;
    const struct case_buffer *buffer = &view->data->buffers[param];
    const void *bytes = buffer->expected ? buffer->expected : buffer->input;
    struct series offsets =
        series_of(bytes, view->data->problem->params[param].type, bytes ? buffer->count : 0);
    uint64_t from = 0;
    for (uint64_t g = 0; g <= offsets.count; g++) {
        uint64_t to = view->compared;
        if (g < offsets.count) {
            int64_t offset = series_int(&offsets, g);
            to = offset < 0 ? 0 : (uint64_t)offset;
            to = to > view->compared ? view->compared : to;
        }
        if (to <= from)
            continue;
        if (g == 0)
            compare_bits(view, from, to, difference);
        else
            compare_sets(view, from, to, difference);
        from = to;
    }
}

/* What lies past the count must still be what it was. */
static void compare_beyond(const struct output_view *view, struct difference *difference)
{
    enum { BLOCK = 8192 };
    uint8_t *untouched = malloc((size_t)BLOCK * view->got.size);
    if (!untouched)
        BUG("no memory for a block of poison");
    bool prefix_is_right = difference->count == 0;
    unsigned size = view->got.size;
    for (uint64_t block = view->compared; block < view->got.count; block += BLOCK) {
        uint64_t count = view->got.count - block < BLOCK ? view->got.count - block : BLOCK;
        const uint8_t *got = view->got.bytes + block * size;
        view_untouched_bytes(view, block, count, untouched);
        if (memcmp(got, untouched, count * size) == 0)
            continue;
        for (uint64_t i = 0; i < count; i++)
            if (memcmp(got + i * size, untouched + i * size, size) != 0)
                note(difference, block + i);
    }
    difference->beyond = prefix_is_right && difference->count != 0;
    free(untouched);
}

static void compare_prefix(const struct output_view *view, struct difference *difference)
{
    compare_bits(view, 0, view->compared, difference);
    compare_beyond(view, difference);
}

static void compare_prefix_any_order(const struct output_view *view, struct difference *difference)
{
    compare_sets(view, 0, view->compared, difference);
    compare_beyond(view, difference);
}

void view_untouched_bytes(const struct output_view *view, uint64_t index, uint64_t count,
                          uint8_t *bytes)
{
    unsigned size = view->got.size;
    if (view->original)
        memcpy(bytes, view->original + index * size, count * size);
    else
        wire_poison(bytes, view->poison_from + index * size, count * size, view->poison_seed,
                    view->check->param);
}

bool view_is_untouched(const struct output_view *view, uint64_t index)
{
    uint8_t untouched[8];
    unsigned size = view->got.size;
    view_untouched_bytes(view, index, 1, untouched);
    return memcmp(view->got.bytes + index * size, untouched, size) == 0;
}

/* Judged as a whole, later, by the problem's own program (judge/checker.h). */
static void compare_checker(const struct output_view *view, struct difference *difference)
{
    (void)view;
    (void)difference;
}

static compare_function *const COMPARES[COMPARE_COUNT] = {
#define COMPARE(id, yaml_name, arguments, meaning) compare_##id,
#include "judge/problem/compare.def"
#undef COMPARE
};

void compare_output(const struct output_view *view, struct difference *difference)
{
    *difference = (struct difference){.wrong_at = difference->wrong_at};
    COMPARES[view->check->compare](view, difference);
}
