/* How it works: loops over one block, plain enough for the compiler; what differs between calls
 * (kind, type, arguments) is looked at once per block. Integers are kept as uint64 where they may
 * wrap. */
#include "judge/problem/makers.h"

#include "base/rng.h"
#include "judge/problem/number.h"

#include <math.h>
#include <stdlib.h>

enum { ZIPF_MAX = 1 << 20 };

/* A second copy for processors that multiply eight 64-bit words at once: what fills tens of
 * megabytes for the largest cases. Both give the same values. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(SJ_SANITIZED)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "default")))
#else
#define WIDE
#endif

/* Uniform in [0, 1) from the upper or lower half of 64 random bits. */
static double unit_high(uint64_t h)
{
    return (double)(h >> 32) * 0x1p-32;
}

static const char *span_ints(struct span *s, int64_t lo, int64_t hi)
{
    s->lo = lo;
    s->hi = hi;
    return NULL;
}

static const char *span_args(const struct run *r, struct span *s)
{
    s->lo = r->i[0] < r->i[1] ? r->i[0] : r->i[1];
    s->hi = r->i[0] < r->i[1] ? r->i[1] : r->i[0];
    s->rlo = fmin(r->d[0], r->d[1]);
    s->rhi = fmax(r->d[0], r->d[1]);
    return NULL;
}

/* ---- uniform ---- */

static const char *check_uniform(const struct run *r, struct span *s)
{
    if (r->reals ? !(r->d[0] < r->d[1]) : r->i[0] > r->i[1])
        return "lo is above hi";
    return span_args(r, s);
}

static WIDE void make_uniform(const struct run *r, uint64_t from, union block *b)
{
    if (r->reals) {
        double width = r->d[1] - r->d[0];
        for (unsigned j = 0; j < BLOCK; j++)
            b->d[j] = r->d[0] + width * rng_unit(r->key, from + j);
        return;
    }
    uint64_t lo = (uint64_t)r->i[0], width = (uint64_t)r->i[1] - lo + 1; /* 0 = all 2^64 */
    if (width - 1 <= UINT32_MAX) { /* two values from 64 bits */
        for (unsigned j = 0; j < BLOCK; j += 2) {
            uint64_t h = rng_at(r->key, (from + j) / 2);
            b->u[j] = lo + (((h & UINT32_MAX) * width) >> 32);
            b->u[j + 1] = lo + (((h >> 32) * width) >> 32);
        }
        return;
    }
    for (unsigned j = 0; j < BLOCK; j++)
        b->u[j] = lo + (width ? rng_below(r->key, from + j, width) : rng_at(r->key, from + j));
}

/* ---- constant, arange, alternating ---- */

static const char *check_constant(const struct run *r, struct span *s)
{
    s->lo = s->hi = r->i[0];
    s->rlo = s->rhi = r->d[0];
    return NULL;
}

static void make_constant(const struct run *r, uint64_t from, union block *b)
{
    (void)from;
    for (unsigned j = 0; j < BLOCK; j++) {
        if (r->reals)
            b->d[j] = r->d[0];
        else
            b->i[j] = r->i[0];
    }
}

static const char *check_arange(const struct run *r, struct span *s)
{
    uint64_t steps = r->count ? r->count - 1 : 0;
    int64_t way = 0, last = 0;
    if (!r->reals && (steps > INT64_MAX || __builtin_mul_overflow((int64_t)steps, r->i[1], &way) ||
                      __builtin_add_overflow(r->i[0], way, &last)))
        return "the last value overflows 64 bits";
    double rlast = r->d[0] + (double)steps * r->d[1];
    s->lo = last < r->i[0] ? last : r->i[0];
    s->hi = last < r->i[0] ? r->i[0] : last;
    s->rlo = fmin(r->d[0], rlast);
    s->rhi = fmax(r->d[0], rlast);
    return NULL;
}

static void make_arange(const struct run *r, uint64_t from, union block *b)
{
    for (unsigned j = 0; j < BLOCK; j++) {
        if (r->reals)
            b->d[j] = r->d[0] + (double)(from + j) * r->d[1];
        else
            b->u[j] = (uint64_t)r->i[0] + (from + j) * (uint64_t)r->i[1];
    }
}

static const char *check_alternating(const struct run *r, struct span *s)
{
    return span_args(r, s);
}

static void make_alternating(const struct run *r, uint64_t from, union block *b)
{
    (void)from; /* blocks start at even indexes */
    for (unsigned j = 0; j < BLOCK; j++) {
        if (r->reals)
            b->d[j] = r->d[j & 1];
        else
            b->i[j] = r->i[j & 1];
    }
}

/* ---- bernoulli, one_hot, spikes_at, permutation, sorted ---- */

static const char *check_bernoulli(const struct run *r, struct span *s)
{
    (void)r;
    return span_ints(s, 0, 1);
}

static void make_bernoulli(const struct run *r, uint64_t from, union block *b)
{
    for (unsigned j = 0; j < BLOCK; j++)
        b->i[j] = rng_unit(r->key, from + j) < r->d[0];
}

static const char *check_one_hot(const struct run *r, struct span *s)
{
    if (r->count && (r->i[0] < 0 || (uint64_t)r->i[0] >= r->count))
        return "its index is outside the array";
    return span_ints(s, 0, 1);
}

static void make_one_hot(const struct run *r, uint64_t from, union block *b)
{
    for (unsigned j = 0; j < BLOCK; j++)
        b->i[j] = from + j == (uint64_t)r->i[0];
}

static const char *check_spikes_at(const struct run *r, struct span *s)
{
    return r->i[0] < 1 ? "the tile is below 1" : span_ints(s, 0, 100);
}

static void make_spikes_at(const struct run *r, uint64_t from, union block *b)
{
    uint64_t tile = (uint64_t)r->i[0];
    for (unsigned j = 0; j < BLOCK; j++) {
        uint64_t place = (from + j) % tile;
        bool spike = place == 0 || place == tile - 1;
        b->i[j] = spike ? 1 + (int64_t)rng_below(r->key, from + j, 100) : 0;
    }
}

static const char *check_permutation(const struct run *r, struct span *s)
{
    return span_ints(s, 0, r->count ? (int64_t)(r->count - 1) : 0);
}

/* A Feistel network over the next even number of bits is a permutation of its range; a value
 * beyond the array is sent through again until it falls inside (cycle walking, Black and Rogaway,
 * CT-RSA 2002). */
static void make_permutation(const struct run *r, uint64_t from, union block *b)
{
    unsigned half = 1;
    while (half < 32 && ((uint64_t)1 << (2 * half)) < r->count)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    for (unsigned j = 0; j < BLOCK && from + j < r->count; j++) {
        uint64_t v = from + j;
        do {
            uint64_t left = v >> half, right = v & mask;
            for (uint64_t round = 0; round < 4; round++) {
                uint64_t next = left ^ (rng_at(r->key ^ round, right) & mask);
                left = right;
                right = next;
            }
            v = left << half | right;
        } while (v >= r->count);
        b->u[j] = v;
    }
}

static const char *check_sorted(const struct run *r, struct span *s)
{
    return check_uniform(r, s);
}

/* Element i falls at random into the i-th of `count` equal parts of the range. */
static void make_sorted(const struct run *r, uint64_t from, union block *b)
{
    double parts = r->count ? (double)r->count : 1;
    uint64_t lo = (uint64_t)r->i[0], last = (uint64_t)r->i[1] - lo;
    for (unsigned j = 0; j < BLOCK; j++) {
        double at = ((double)(from + j) + unit_high(rng_at(r->key, from + j))) / parts;
        if (r->reals) {
            b->d[j] = r->d[0] + (r->d[1] - r->d[0]) * at;
            continue;
        }
        double step = floor(at * ((double)last + 1));
        b->u[j] = lo + (step < (double)last ? (uint64_t)step : last);
    }
}

/* ---- ids of experts ---- */

static const char *check_zipf(const struct run *r, struct span *s)
{
    if (!(r->d[0] >= 0 && r->d[0] <= 20))
        return "s is outside 0..20";
    if (r->i[1] < 1 || r->i[1] > ZIPF_MAX)
        return "k is outside 1..1048576";
    return span_ints(s, 0, r->i[1] - 1);
}

/* Inversion: `guide` leads near the value, a short walk along the cdf ends there. */
void run_prepare(struct run *r)
{
    if (r->kind != GENERATOR_zipf)
        return;
    size_t k = (size_t)r->i[1];
    r->cdf = malloc(k * sizeof *r->cdf);
    r->guide = malloc(k * sizeof *r->guide);
    if (!r->cdf || !r->guide)
        BUG("zipf: out of memory for %zu values", k);
    double sum = 0;
    for (size_t v = 0; v < k; v++)
        r->cdf[v] = sum += pow((double)(v + 1), -r->d[0]);
    for (size_t v = 0; v < k; v++)
        r->cdf[v] /= sum;
    r->cdf[k - 1] = 1; /* above every rng_unit() */
    for (size_t j = 0, v = 0; j < k; j++) {
        while (v + 1 < k && r->cdf[v] <= (double)j / (double)k)
            v++;
        r->guide[j] = (uint32_t)v;
    }
}

void run_finish(struct run *r)
{
    free(r->cdf);
    free(r->guide);
}

static void make_zipf(const struct run *r, uint64_t from, union block *b)
{
    for (unsigned j = 0; j < BLOCK; j++) {
        double u = rng_unit(r->key, from + j);
        size_t v = r->guide[(size_t)(u * (double)r->i[1])];
        while (r->cdf[v] <= u)
            v++;
        b->i[j] = (int64_t)v;
    }
}

static const char *check_ids(const struct run *r, struct span *s)
{
    if (r->i[0] < 1 || r->i[0] > number_max(r->type) - 100 || r->i[0] > INT32_MAX)
        return "k is below 1 or too large";
    return span_ints(s, number_min(r->type), number_max(r->type));
}

/* Outside: -1 and k most often, since they are what goes wrong; then the ends of the type and
 * values near and far on both sides. */
static void make_ids(const struct run *r, uint64_t from, union block *b)
{
    int64_t k = r->i[0];
    const int64_t outside[8] = {-1, k, -1, k, number_min(r->type), number_max(r->type), -k, k + 99};
    uint64_t threshold = (uint64_t)(r->d[1] * 0x1p32);
    for (unsigned j = 0; j < BLOCK; j++) {
        uint64_t h = rng_at(r->key, from + j);
        int64_t inside = (int64_t)(((h & UINT32_MAX) * (uint64_t)k) >> 32);
        int64_t other = outside[h & 7];
        b->i[j] = h >> 32 < threshold ? other : inside;
    }
}

static const char *check_multiples(const struct run *r, struct span *s)
{
    if (r->i[0] < 1 || r->i[1] < 1)
        return "step and k must be at least 1";
    if (r->i[2] < 0 || r->i[2] >= r->i[1])
        return "from is outside 0..k-1";
    return span_ints(s, r->i[2], r->i[1] - 1);
}

static void make_multiples(const struct run *r, uint64_t from, union block *b)
{
    uint64_t step = (uint64_t)r->i[0], start = (uint64_t)r->i[2];
    uint64_t kinds = ((uint64_t)r->i[1] - start - 1) / step + 1;
    for (unsigned j = 0; j < BLOCK; j++)
        b->u[j] = start + step * rng_below(r->key, from + j, kinds);
}

/* ---- floats ---- */

static const char *check_kept(const struct run *r, struct span *s)
{
    (void)r;
    s->rlo = -256;
    s->rhi = 256;
    return NULL;
}

/* Magnitudes from 2^-8 to 2^8 with random mantissas, so that neighbours in the answer differ.
 * The bits of a double are put together from one random number: 24 of mantissa, 4 of exponent,
 * 4 that make some of the dropped ones zeros, 32 that decide. No branch to mispredict. */
static void make_kept(const struct run *r, uint64_t from, union block *b)
{
    static const uint64_t SIGN = (uint64_t)1 << 63;
    uint64_t threshold = (uint64_t)(r->d[0] * 0x1p32);
    for (unsigned j = 0; j < BLOCK; j++) {
        uint64_t h = rng_at(r->key, from + j);
        uint64_t magnitude = (1023 - 8 + (h >> 24 & 15)) << 52 | (h & 0xffffff) << 28;
        uint64_t zeros = h >> 28 & 15; /* 0: 0.0, 1: -0.0 */
        uint64_t is_zero = -(uint64_t)(zeros < 2), keep = -(uint64_t)(h >> 32 < threshold);
        uint64_t dropped = ((zeros << 63) & is_zero) | ((magnitude | SIGN) & ~is_zero);
        b->u[j] = (magnitude & keep) | (dropped & ~keep);
    }
}

static const char *check_special_floats(const struct run *r, struct span *s)
{
    (void)r;
    return span_ints(s, 0, 0);
}

/* Half of the values are ordinary; the rest is spread evenly over what floats have at the edges. */
static void make_special_floats(const struct run *r, uint64_t from, union block *b)
{
    struct number_format f = number_format(r->type);
    uint64_t mantissa_mask = ((uint64_t)1 << f.mantissa_bits) - 1;
    uint64_t quiet = (uint64_t)1 << (f.mantissa_bits - 1);
    uint64_t top = ((uint64_t)1 << f.exponent_bits) - 1; /* infinities and NaNs */
    for (unsigned j = 0; j < BLOCK; j++) {
        uint64_t h = rng_at(r->key, from + j);
        uint64_t mantissa = rng_at(r->key + 1, from + j) & mantissa_mask;
        uint64_t exponent = top / 2 - 4 + (h >> 8 & 7);
        switch (h >> 16 & 15) {
        case 0: /* quiet NaN with a payload */
            exponent = top;
            mantissa |= quiet;
            break;
        case 1: /* signalling NaN with a payload */
            exponent = top;
            mantissa = (mantissa & (quiet - 1)) | 1;
            break;
        case 2: /* infinity */
            exponent = top;
            mantissa = 0;
            break;
        case 3: /* zero */
            exponent = mantissa = 0;
            break;
        case 4: /* subnormal */
            exponent = 0;
            mantissa |= mantissa == 0;
            break;
        case 5: /* smallest subnormal */
            exponent = 0;
            mantissa = 1;
            break;
        case 6: /* smallest normal */
            exponent = 1;
            mantissa = 0;
            break;
        case 7: /* largest */
            exponent = top - 1;
            mantissa = mantissa_mask;
            break;
        default: /* ordinary */
            break;
        }
        b->u[j] =
            (h & 1) << (f.exponent_bits + f.mantissa_bits) | exponent << f.mantissa_bits | mantissa;
    }
}

/* ---- the table ---- */

const struct row GENERATOR_ROWS[GENERATOR_COUNT] = {
#define GENERATOR(id, args, required, makes, types, form, meaning)                                 \
    {#id, args, required, makes, types, form, check_##id, make_##id},
#include "judge/problem/generators.def"
#undef GENERATOR
};
