/* Recognisers about where it is wrong: the last tile, one place of every tile, past a limit,
 * shifted, reordered; and about values that a counter could not hold. */
#include "judge/check/diagnose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tile sizes worth naming: a warp up to four thousand elements. */
static const unsigned TILES[] = {32, 64, 128, 256, 512, 1024, 2048, 4096};
enum { TILE_COUNT = sizeof TILES / sizeof TILES[0] };

static uint64_t last_wrong(const struct diagnosis_context *c)
{
    uint64_t i = c->n;
    while (i > 0 && !c->wrong_at[i - 1])
        i--;
    return i ? i - 1 : 0;
}

const char *diagnose_last_element(const struct diagnosis_context *c)
{
    if (c->wrong_count != 1 || c->first + 1 != c->n || c->n < 2)
        return NULL;
    return "only the last element is wrong";
}

/* The largest tile of which the wrong part is the whole last piece, else the smallest one whose
 * last piece holds it. */
const char *diagnose_last_tile(const struct diagnosis_context *c)
{
    unsigned best = 0;
    if (last_wrong(c) + 1 != c->n)
        return NULL;
    for (unsigned t = 0; t < TILE_COUNT; t++) {
        uint64_t start = c->n / TILES[t] * TILES[t];
        if (c->n % TILES[t] == 0 || c->n < TILES[t] || c->first < start)
            continue;
        if (best == 0 || c->first == start)
            best = TILES[t];
    }
    if (best == 0)
        return NULL;
    uint64_t start = c->n / best * best;
    return arena_printf(c->arena,
                        "only the last, partial tile is wrong: index %" PRIu64 " = %" PRIu64
                        " * %u begins the last %" PRIu64 " elements, and all before it are right",
                        start, start / best, best, c->n - start);
}

const char *diagnose_size_limit(const struct diagnosis_context *c)
{
    uint64_t first = c->first;
    if (first < 64 || diagnosis_power_of_two(first) != first ||
        c->wrong_count * 10 < (c->n - first) * 9)
        return NULL;
    unsigned log = (unsigned)__builtin_ctzll(first);
    const char *levels =
        log % 2 == 0 && log >= 10
            ? arena_printf(c->arena, ", which is where two levels of %u elements end",
                           1u << log / 2)
            : "";
    return arena_printf(c->arena, "right up to index %" PRIu64 " = 2^%u%s, wrong from there on",
                        first, log, levels);
}

static bool is_shifted(const struct diagnosis_context *c, bool late)
{
    bool varied = false;
    for (uint64_t i = 1; i < c->n; i++) {
        uint64_t got = late ? i : i - 1, want = late ? i - 1 : i;
        if (series_bits(&c->got, got) != series_bits(&c->expected, want))
            return false;
        varied |= series_bits(&c->expected, i) != series_bits(&c->expected, i - 1);
    }
    return varied && c->n >= 4;
}

const char *diagnose_shifted(const struct diagnosis_context *c)
{
    if (is_shifted(c, true))
        return "the right values, each one place too late";
    if (is_shifted(c, false))
        return "the right values, each one place too early";
    return NULL;
}

const char *diagnose_wrong_order(const struct diagnosis_context *c)
{
    uint64_t n = c->n;
    if (n < 2)
        return NULL;
    uint64_t *values = malloc(3 * n * sizeof *values);
    if (!values)
        BUG("no memory to sort %" PRIu64 " values", n);
    for (uint64_t i = 0; i < n; i++) {
        values[i] = series_bits(&c->got, i);
        values[n + i] = series_bits(&c->expected, i);
    }
    compare_sort(values, values + 2 * n, n);
    compare_sort(values + n, values + 2 * n, n);
    bool same = memcmp(values, values + n, n * sizeof *values) == 0;
    free(values);
    if (!same)
        return NULL;
    return arena_printf(c->arena,
                        "right set in wrong order: `%s` holds exactly the elements that it "
                        "should, but not each in its place",
                        c->view->name);
}

const char *diagnose_repeating_place(const struct diagnosis_context *c)
{
    for (unsigned t = TILE_COUNT; t-- > 0 && c->wrong_count >= 2;) {
        uint64_t tile = TILES[t], place = c->first % tile, i = c->first;
        while (i < c->n && (!c->wrong_at[i] || i % tile == place))
            i++;
        if (i == c->n)
            return arena_printf(c->arena,
                                "wrong only where index %% %" PRIu64 " == %" PRIu64
                                ": at the same place of every tile",
                                tile, place);
    }
    return NULL;
}

const char *diagnose_one_tile(const struct diagnosis_context *c)
{
    uint64_t last = last_wrong(c);
    for (unsigned t = 0; t < TILE_COUNT && c->wrong_count >= 2; t++)
        if (c->n >= 4 * (uint64_t)TILES[t] && c->first / TILES[t] == last / TILES[t])
            return arena_printf(c->arena,
                                "every wrong element lies in one tile of %u: indices %" PRIu64
                                " to %" PRIu64,
                                TILES[t], c->first, last);
    return NULL;
}

/* got == expected modulo 2^bits, read back signed or unsigned. */
static bool wraps_at(const struct diagnosis_context *c, unsigned bits, bool is_signed)
{
    unsigned shift = 64 - bits;
    for (uint64_t i = 0; i < c->n; i++) {
        uint64_t high = (uint64_t)series_int(&c->expected, i) << shift;
        int64_t wrapped = is_signed ? (int64_t)high >> shift : (int64_t)(high >> shift);
        if (wrapped != series_int(&c->got, i))
            return false;
    }
    return c->n > 0;
}

const char *diagnose_narrow_counter(const struct diagnosis_context *c)
{
    static const unsigned WIDTHS[] = {8, 16, 30, 31};
    for (size_t w = 0; w < sizeof WIDTHS / sizeof WIDTHS[0] && !series_is_float(&c->got); w++)
        if (WIDTHS[w] < 8 * c->got.size &&
            (wraps_at(c, WIDTHS[w], false) || wraps_at(c, WIDTHS[w], true)))
            return arena_printf(c->arena,
                                "every value equals the right one modulo 2^%u: somewhere they pass "
                                "through %u bits",
                                WIDTHS[w], WIDTHS[w]);
    return NULL;
}

/* Sums of 64 bits whose low halves are right: that a sum wrapped on the way and that an item was
 * widened without its sign both leave multiples of 2^32. */
const char *diagnose_upper_half(const struct diagnosis_context *c)
{
    if (series_is_float(&c->got) || c->got.size != 8)
        return NULL;
    for (uint64_t i = 0; i < c->n; i++)
        if ((series_bits(&c->got, i) ^ series_bits(&c->expected, i)) & UINT32_MAX)
            return NULL;
    return arena_printf(
        c->arena,
        "the low 32 bits of every value are right and the upper ones are not (%" PRIu64
        " of %" PRIu64 " values): likely a sum passes through 32 bits on the way, or "
        "a negative number is widened as an unsigned one",
        c->wrong_count, c->n);
}

const char *diagnose_value_limit(const struct diagnosis_context *c)
{
    double largest_right = 0, smallest_wrong = (double)INFINITY;
    for (uint64_t i = 0; i < c->n; i++) {
        double value = fabs(series_double(&c->expected, i));
        if (!c->wrong_at[i])
            largest_right = fmax(largest_right, value);
        else
            smallest_wrong = fmin(smallest_wrong, value);
    }
    static const int LIMITS[] = {7, 8, 15, 16, 24, 30, 31};
    for (size_t k = 0; k < sizeof LIMITS / sizeof LIMITS[0] && c->wrong_count >= 2; k++) {
        double limit = ldexp(1.0, LIMITS[k]);
        if (largest_right <= limit && largest_right > 0.9 * limit && smallest_wrong >= limit &&
            smallest_wrong < 1.1 * limit)
            return arena_printf(
                c->arena, "wrong exactly where the right value reaches 2^%d: too few bits for it",
                LIMITS[k]);
    }
    return NULL;
}

/* ---- histograms: expected[v] is how often the input holds v ---- */

static uint64_t *counts_of(const struct series *in, uint64_t elements, uint64_t bins)
{
    uint64_t *counts = calloc(bins + 1, sizeof *counts);
    if (!counts)
        BUG("no memory for %" PRIu64 " counts", bins);
    for (uint64_t i = 0; i < elements; i++) {
        int64_t value = series_int(in, i);
        counts[value >= 0 && (uint64_t)value < bins ? (uint64_t)value : bins]++;
    }
    return counts; /* the last one counts what is outside of the range */
}

static bool equal_counts(const struct series *s, const uint64_t *counts)
{
    for (uint64_t v = 0; v < s->count; v++)
        if ((uint64_t)series_int(s, v) != counts[v])
            return false;
    return true;
}

/* The input that `expected` is the histogram of; `outside` values of it are out of range. */
static bool find_counted(const struct diagnosis_context *c, struct series *in, uint64_t *outside)
{
    const struct problem *p = c->data->problem;
    struct diagnosis_cache *cache = c->cache;
    bool applies =
        c->n >= 1 && !series_is_float(&c->expected) && c->view->check->compare == COMPARE_exact;
    for (unsigned i = 0; applies && !cache->has_histogram && i < p->param_count; i++) {
        const struct case_buffer *buffer = &c->data->buffers[i];
        if (p->params[i].kind != PARAM_BUFFER || !buffer->input || buffer->count == 0 ||
            wire_type_kind(p->params[i].type) == 'f')
            continue;
        struct series candidate = series_of(buffer->input, p->params[i].type, buffer->count);
        uint64_t *counts = counts_of(&candidate, candidate.count, c->n);
        if (!cache->counted.bytes && equal_counts(&c->expected, counts)) {
            cache->counted = candidate;
            cache->outside = counts[c->n];
        }
        free(counts);
    }
    cache->has_histogram = true;
    *in = cache->counted;
    *outside = cache->outside;
    return in->bytes != NULL;
}

/* Counters of 16 bits, one for each of several blocks, that are added up in more bits. */
const char *diagnose_narrow_partials(const struct diagnosis_context *c)
{
    const int64_t range = 1 << 16;
    struct series in;
    uint64_t outside, lost = 0;
    if (!find_counted(c, &in, &outside))
        return NULL;
    for (uint64_t v = 0; v < c->n; v++) {
        int64_t error = diagnosis_error(c, v);
        if (error < 0 || error % range != 0 || error > series_int(&c->expected, v))
            return NULL;
        lost += (uint64_t)error;
    }
    return arena_printf(c->arena,
                        "every wrong count is short by a multiple of 2^16 (%" PRIu64 " of %" PRIu64
                        " elements in all): so it looks when counters of 16 bits "
                        "overflow, in each block on its own, before they are added up",
                        lost, in.count - outside);
}

const char *diagnose_part_counted(const struct diagnosis_context *c)
{
    struct series in;
    uint64_t outside, sum = 0;
    if (!find_counted(c, &in, &outside) || outside)
        return NULL;
    for (uint64_t v = 0; v < c->n; v++)
        sum += (uint64_t)series_int(&c->got, v);
    if (sum == 0 || sum >= in.count)
        return NULL;
    uint64_t *counts = counts_of(&in, sum, c->n);
    bool fits = equal_counts(&c->got, counts);
    free(counts);
    if (!fits)
        return NULL;
    return arena_printf(c->arena, "only the first %s of %" PRIu64 " input elements were counted",
                        diagnosis_index(c, sum), in.count);
}

const char *diagnose_invalid_counted(const struct diagnosis_context *c)
{
    struct series in;
    uint64_t outside, extra = 0;
    if (!find_counted(c, &in, &outside) || outside == 0)
        return NULL;
    for (uint64_t v = 0; v < c->n; v++) {
        int64_t error = diagnosis_error(c, v);
        if (error > 0)
            return NULL;
        extra += (uint64_t)-error;
    }
    if (extra == 0 || extra > outside)
        return NULL;
    return arena_printf(c->arena,
                        "the counts hold %" PRIu64 " too many in all, and the input holds %" PRIu64
                        " values outside of [0, %" PRIu64 "): some of those were counted",
                        extra, outside, c->n);
}

const char *diagnose_increments_lost(const struct diagnosis_context *c)
{
    struct series in;
    uint64_t outside, missing = 0;
    if (!find_counted(c, &in, &outside))
        return NULL;
    for (uint64_t v = 0; v < c->n; v++) {
        int64_t error = diagnosis_error(c, v);
        if (error < 0)
            return NULL;
        missing += (uint64_t)error;
    }
    const char *limit = diagnose_size_limit(c); /* bins past a limit say more than a sum */
    if (limit)
        return limit;
    return arena_printf(c->arena,
                        "%" PRIu64 " of %" PRIu64
                        " elements are missing from the counts, and no count is "
                        "too large: skipped elements, or increments that overwrote one another",
                        missing, in.count - outside);
}
