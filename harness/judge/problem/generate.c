/* How it works: elements are made in blocks of BLOCK values, as int64, double or bit patterns, by
 * one function per generator, and stored in the element type by number_store_*(); so neither the
 * kind of generator nor the type is looked at per element. Every value comes from (key, index)
 * alone.
 *
 * generator_check() evaluates the arguments and asks the row's check for the span of values that it
 * can make; the span must fit the type. */
#include "judge/problem/generate.h"

#include "base/rng.h"
#include "judge/problem/call.h"
#include "judge/problem/number.h"
#include "judge/problem/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, ZIPF_MAX = 1 << 20 };

enum generator_kind {
#define GENERATOR(id, args, required, makes, types, form, meaning) GENERATOR_##id,
#include "judge/problem/generators.def"
#undef GENERATOR
    GENERATOR_COUNT,
    LITERAL = GENERATOR_COUNT
};

struct argument {
    struct expr *expr; /* NULL: a number */
    double number;
    bool whole; /* `number` was written without a decimal point */
};

struct generator {
    enum generator_kind kind;
    unsigned arg_count;
    struct argument args[CALL_ARGS_MAX];
    int64_t *integers; /* LITERAL, of an integer type */
    double *reals;     /* LITERAL, of a float type */
    unsigned length, capacity;
};

/* One filling: the arguments as numbers. */
struct run {
    const struct generator *g;
    enum wire_type type;
    uint64_t count, key;
    unsigned arg_count;
    int64_t i[CALL_ARGS_MAX];
    double d[CALL_ARGS_MAX];
    bool reals;      /* makes reals, not integers */
    double *cdf;     /* zipf */
    uint32_t *guide; /* zipf: first value whose cdf reaches j / k */
};

struct span {
    int64_t lo, hi;  /* of integers */
    double rlo, rhi; /* of reals */
};

union block {
    int64_t i[BLOCK];
    double d[BLOCK];
    uint64_t u[BLOCK];
};

/* Uniform in [0, 1) from the upper or lower half of 64 random bits. */
static double unit_high(uint64_t h)
{
    return (double)(h >> 32) * 0x1p-32;
}

static uint32_t below32(uint64_t h, uint32_t bound)
{
    return (uint32_t)(((h & 0xffffffffu) * bound) >> 32);
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

static void make_uniform(const struct run *r, uint64_t from, union block *b)
{
    if (r->reals) {
        double width = r->d[1] - r->d[0];
        for (unsigned j = 0; j < BLOCK; j++)
            b->d[j] = r->d[0] + width * rng_unit(r->key, from + j);
        return;
    }
    uint64_t lo = (uint64_t)r->i[0], width = (uint64_t)r->i[1] - lo + 1; /* 0 = all 2^64 */
    if (width - 1 <= UINT32_MAX) { /* two values from 64 bits */
        for (unsigned j = 0; j < BLOCK / 2; j++) {
            uint64_t h = rng_at(r->key, from / 2 + j);
            b->u[2 * j] = lo + (((h & UINT32_MAX) * width) >> 32);
            b->u[2 * j + 1] = lo + (((h >> 32) * width) >> 32);
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
static void prepare_zipf(struct run *r)
{
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
        while (r->cdf[v] <= (double)j / (double)k)
            v++;
        r->guide[j] = (uint32_t)v;
    }
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
    if (r->i[0] < 1 || r->i[0] > number_max(r->type) - 100)
        return "k is below 1 or too large for the type";
    return span_ints(s, number_min(r->type), number_max(r->type));
}

/* Outside: -1 and k most often, since they are what goes wrong; then the ends of the type and
 * values near and far on both sides. */
static void make_ids(const struct run *r, uint64_t from, union block *b)
{
    int64_t k = r->i[0];
    const int64_t outside[8] = {-1, k, -1, k, number_min(r->type), number_max(r->type), -k, k + 99};
    for (unsigned j = 0; j < BLOCK; j++) {
        uint64_t h = rng_at(r->key, from + j);
        b->i[j] = (int64_t)rng_below(r->key + 1, from + j, (uint64_t)k);
        if (unit_high(h) < r->d[1])
            b->i[j] = outside[h & 7];
    }
}

static const char *check_multiples(const struct run *r, struct span *s)
{
    if (r->i[0] < 1 || r->i[1] < 1)
        return "step and k must be at least 1";
    return span_ints(s, 0, r->i[1] - 1);
}

static void make_multiples(const struct run *r, uint64_t from, union block *b)
{
    uint64_t step = (uint64_t)r->i[0], kinds = ((uint64_t)r->i[1] - 1) / step + 1;
    for (unsigned j = 0; j < BLOCK; j++)
        b->u[j] = step * rng_below(r->key, from + j, kinds);
}

/* ---- floats ---- */

static const char *check_kept(const struct run *r, struct span *s)
{
    (void)r;
    s->rlo = -64; /* number_from_double() of 63.99 in float16 and bfloat16 stays below */
    s->rhi = 64;
    return NULL;
}

/* Magnitudes from 2^-6 to 2^6 with random mantissas, so that neighbours in the answer differ. */
static void make_kept(const struct run *r, uint64_t from, union block *b)
{
    for (unsigned j = 0; j < BLOCK; j++) {
        uint64_t h = rng_at(r->key, from + j);
        double magnitude = ldexp(1 + unit_high(h), (int)below32(h, 12) - 6);
        if (rng_unit(r->key + 1, from + j) < r->d[0])
            b->d[j] = magnitude;
        else
            b->d[j] = (h & 0xf) == 0 ? 0.0 : (h & 0xf) == 1 ? -0.0 : -magnitude;
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

static const struct row {
    const char *name, *args;
    unsigned required;
    char makes, types;
    const char *form;
    const char *(*check)(const struct run *, struct span *);
    void (*make)(const struct run *, uint64_t from, union block *);
} ROWS[GENERATOR_COUNT] = {
#define GENERATOR(id, args, required, makes, types, form, meaning)                                 \
    {#id, args, required, makes, types, form, check_##id, make_##id},
#include "judge/problem/generators.def"
#undef GENERATOR
};

/* ---- parsing ---- */

static struct generator *refuse(struct expr_error *error, size_t offset, const char *found,
                                const char *allowed)
{
    error->offset = offset;
    snprintf(error->found, sizeof error->found, strlen(found) > 100 ? "%.100s..." : "%.100s",
             found);
    snprintf(error->allowed, sizeof error->allowed, "%s", allowed);
    return NULL;
}

/* A whole text as a finite number. */
static bool read_number(const char *text, double *v, bool *whole)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!((*digits >= '0' && *digits <= '9') || *digits == '.') || strpbrk(digits, "xX"))
        return false;
    char *end;
    *v = strtod(text, &end);
    *whole = strpbrk(text, ".eE") == NULL;
    return *end == '\0' && isfinite(*v);
}

static bool parse_argument(char kind, const char *text, const struct expr_names *names,
                           struct arena *arena, struct argument *a, struct expr_error *error)
{
    bool number = read_number(text, &a->number, &a->whole);
    char found[128];
    snprintf(found, sizeof found, "'%.100s'", text);
    if (kind == 'p' && !(number && a->number >= 0 && a->number <= 1)) {
        refuse(error, 0, found, "a number from 0 to 1");
        return false;
    }
    if (kind == 'r' && !number) {
        refuse(error, 0, found, "a number");
        return false;
    }
    if (kind == 'p' || kind == 'r' || (kind == 'n' && number && !a->whole))
        return true;
    a->whole = true;
    a->expr = expr_parse(text, names, arena, error);
    return a->expr != NULL;
}

static const struct row *find_row(const char *name, enum wire_type type, struct expr_error *error)
{
    const char *names[GENERATOR_COUNT];
    for (unsigned i = 0; i < GENERATOR_COUNT; i++) {
        names[i] = ROWS[i].name;
        if (strcmp(ROWS[i].name, name) != 0)
            continue;
        char needed = ROWS[i].types;
        char kind = wire_type_kind(type);
        if (needed == '*' || needed == kind)
            return &ROWS[i];
        char found[128];
        snprintf(found, sizeof found, "'%s' for elements of type %s", name, wire_type_name(type));
        refuse(error, 0, found,
               needed == 'f' ? "a float type here, or another generator"
                             : "a signed integer type here, or another generator");
        return NULL;
    }
    char found[128], allowed[256];
    snprintf(found, sizeof found, "'%.100s'", name);
    const char *near = suggest(name, names, GENERATOR_COUNT);
    int used = near ? snprintf(allowed, sizeof allowed, "did you mean '%s'? ", near) : 0;
    used += snprintf(allowed + used, sizeof allowed - (size_t)used, "a list of values, or one of");
    for (unsigned i = 0; i < GENERATOR_COUNT && used < (int)sizeof allowed; i++)
        used += snprintf(allowed + used, sizeof allowed - (size_t)used, " %s", names[i]);
    refuse(error, 0, found, allowed);
    return NULL;
}

struct generator *generator_parse(const char *text, enum wire_type type,
                                  const struct expr_names *names, struct arena *arena,
                                  struct expr_error *error)
{
    struct call call;
    const char *wrong = call_parse(text, arena, &call);
    if (wrong)
        return refuse(error, 0, wrong, "a generator such as uniform(-9, 9)");
    const struct row *row = find_row(call.name, type, error);
    if (!row)
        return NULL;
    size_t most = strlen(row->args);
    if (call.arg_count < row->required || call.arg_count > most) {
        char found[128];
        snprintf(found, sizeof found, "'%s' with %u argument%s", row->name, call.arg_count,
                 call.arg_count == 1 ? "" : "s");
        return refuse(error, 0, found, row->form);
    }
    struct generator *g = arena_alloc(arena, sizeof *g);
    g->kind = (enum generator_kind)(row - ROWS);
    g->arg_count = call.arg_count;
    bool reals = row->makes == 'r';
    for (unsigned i = 0; i < call.arg_count; i++) {
        if (!parse_argument(row->args[i], call.args[i], names, arena, &g->args[i], error)) {
            error->offset += call.offsets[i];
            return NULL;
        }
        if (row->args[i] == 'n' && !g->args[i].whole) {
            reals = true;
            error->offset = call.offsets[i];
        }
    }
    if (reals && !number_is_float(type)) {
        char found[128];
        snprintf(found, sizeof found, "a number with a decimal point for elements of type %s",
                 wire_type_name(type));
        return refuse(error, error->offset, found, "whole numbers");
    }
    return g;
}

struct generator *generator_literal(unsigned capacity, struct arena *arena)
{
    struct generator *g = arena_alloc(arena, sizeof *g);
    g->kind = LITERAL;
    g->capacity = capacity;
    g->integers = arena_array(arena, capacity, sizeof *g->integers);
    g->reals = arena_array(arena, capacity, sizeof *g->reals);
    return g;
}

const char *generator_literal_add(struct generator *g, enum wire_type type, const char *text)
{
    if (g->length == g->capacity)
        BUG("generator: more than %u literal values", g->capacity);
    if (number_is_float(type)) {
        static const struct {
            const char *name;
            double value;
        } NAMED[] = {{"nan", NAN},       {".nan", NAN},       {"inf", INFINITY},
                     {".inf", INFINITY}, {"-inf", -INFINITY}, {"-.inf", -INFINITY}};
        for (unsigned i = 0; i < sizeof NAMED / sizeof NAMED[0]; i++) {
            if (strcmp(NAMED[i].name, text) == 0) {
                g->reals[g->length++] = NAMED[i].value;
                return NULL;
            }
        }
        bool whole;
        double v;
        if (!read_number(text, &v, &whole) ||
            !isfinite(number_to_double(type, number_from_double(type, v))))
            return "a number that the type holds, nan, inf or -inf";
        g->reals[g->length++] = v;
        return NULL;
    }
    const char *digits = text + (*text == '-');
    size_t length = strspn(digits, "0123456789");
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (length == 0 || digits[length] || errno || v < number_min(type) || v > number_max(type))
        return "a whole number that the type holds";
    g->integers[g->length++] = v;
    return NULL;
}

/* ---- checking and filling ---- */

/* Arguments that were not given: arange starts at 0 and steps by 1, ids are all inside. */
static void set_defaults(struct run *r)
{
    if (r->g->kind == GENERATOR_arange)
        r->i[1] = 1;
    r->d[1] = (double)r->i[1];
}

static int run_init(struct run *r, const struct generator *g, enum wire_type type, uint64_t count,
                    const int64_t *variables, struct err *e)
{
    *r = (struct run){.g = g, .type = type, .count = count, .arg_count = g->arg_count};
    if (g->kind == LITERAL)
        return 0;
    set_defaults(r);
    struct expr_values values = {.variables = variables};
    r->reals = ROWS[g->kind].makes == 'r';
    for (unsigned i = 0; i < g->arg_count; i++) {
        const struct argument *a = &g->args[i];
        if (a->expr) {
            if (expr_eval(a->expr, &values, &r->i[i], e) != 0)
                return -1;
            r->d[i] = (double)r->i[i];
        } else {
            r->d[i] = a->number;
            r->reals |= ROWS[g->kind].makes == 'a';
        }
    }
    return 0;
}

int generator_check(const struct generator *g, enum wire_type type, uint64_t count,
                    const int64_t *variables, struct err *e)
{
    struct run r;
    if (run_init(&r, g, type, count, variables, e) != 0)
        return -1;
    if (g->kind == LITERAL) {
        if (g->length != count)
            return err_set(e, "a list of %u values for an input of %llu elements", g->length,
                           (unsigned long long)count);
        return 0;
    }
    const struct row *row = &ROWS[g->kind];
    struct span s = {0};
    const char *wrong = row->check(&r, &s);
    if (wrong)
        return err_set(e, "%s: %s", row->form, wrong);
    if (r.reals) {
        if (!isfinite(number_to_double(type, number_from_double(type, s.rlo))) ||
            !isfinite(number_to_double(type, number_from_double(type, s.rhi))))
            return err_set(e, "%s: makes values that %s does not hold", row->form,
                           wire_type_name(type));
    } else if (s.lo < number_min(type) || s.hi > number_max(type)) {
        return err_set(e, "%s: makes %lld..%lld, and %s holds %lld..%lld exactly", row->form,
                       (long long)s.lo, (long long)s.hi, wire_type_name(type),
                       (long long)number_min(type), (long long)number_max(type));
    }
    return 0;
}

static void fill_literal(const struct generator *g, enum wire_type type, void *out)
{
    if (number_is_float(type))
        number_store_reals(type, out, 0, g->reals, g->length);
    else
        number_store_integers(type, out, 0, g->integers, g->length);
}

void generator_fill(const struct generator *g, enum wire_type type, uint64_t count,
                    const int64_t *variables, uint64_t key, void *out)
{
    struct err e;
    struct run r;
    if (run_init(&r, g, type, count, variables, &e) != 0)
        BUG("generator: filled without a check: %s", e.text);
    if (g->kind == LITERAL) {
        fill_literal(g, type, out);
        return;
    }
    r.key = key;
    if (g->kind == GENERATOR_zipf)
        prepare_zipf(&r);
    const struct row *row = &ROWS[g->kind];
    for (uint64_t from = 0; from < count; from += BLOCK) {
        union block b;
        unsigned block_count = count - from < BLOCK ? (unsigned)(count - from) : BLOCK;
        row->make(&r, from, &b);
        if (row->makes == 'b')
            number_store_bits(type, out, from, b.u, block_count);
        else if (r.reals)
            number_store_reals(type, out, from, b.d, block_count);
        else
            number_store_integers(type, out, from, b.i, block_count);
    }
    free(r.cdf);
    free(r.guide);
}
