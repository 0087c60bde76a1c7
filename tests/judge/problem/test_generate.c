/* Generators: what each row makes, in which types, and that a case can be made again alone. */
#include "judge/problem/generate.h"
#include "judge/problem/number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 100000 };
static const char *const VARIABLES[] = {"n", "k"};
static const struct expr_names NAMES = {.variables = VARIABLES, .variable_count = 2};
static const int64_t VALUES[] = {N, 37};
static struct arena arena;

static struct generator *parse(const char *text, enum wire_type type)
{
    struct expr_error error;
    struct generator *g = generator_parse(text, type, &NAMES, &arena, &error);
    if (!g)
        fail_msg("'%s': found %s; allowed: %s", text, error.found, error.allowed);
    return g;
}

/* `count` elements of `type`; the caller frees. */
static void *make(const char *text, enum wire_type type, uint64_t count, uint64_t key)
{
    struct generator *g = parse(text, type);
    struct err e;
    if (generator_check(g, type, count, VALUES, &e) != 0)
        fail_msg("%s", e.text);
    unsigned char *out = malloc(count * wire_type_bytes(type) + 1);
    out[count * wire_type_bytes(type)] = 0xa5;
    generator_fill(g, type, count, VALUES, key, out);
    assert_int_equal(out[count * wire_type_bytes(type)], 0xa5);
    return out;
}

/* Does the text parse, and does generator_check() refuse it for `count` elements? */
static void assert_check_refuses(const char *text, enum wire_type type, uint64_t count)
{
    struct err e = {{0}};
    if (generator_check(parse(text, type), type, count, VALUES, &e) == 0)
        fail_msg("'%s' was accepted for %s", text, wire_type_name(type));
    assert_true(e.text[0] != '\0');
}

static void assert_parse_refuses(const char *text, enum wire_type type)
{
    struct expr_error error;
    if (generator_parse(text, type, &NAMES, &arena, &error))
        fail_msg("'%s' was accepted for %s", text, wire_type_name(type));
}

/* Parts in any order make what one filling makes, and touch nothing else. */
static void parts_make_the_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum wire_type type;
    } CASES[] = {
        {"uniform(-9, 9)", WIRE_int32},   {"uniform(-1.5, 2.5)", WIRE_float32},
        {"kept(0.5)", WIRE_float32},      {"special_floats", WIRE_float16},
        {"ids(k, 0.2)", WIRE_int32},      {"zipf(1.2, k)", WIRE_uint8},
        {"sorted(0, n)", WIRE_int64},     {"permutation", WIRE_int32},
        {"alternating(1, 2)", WIRE_int8}, {"arange", WIRE_float64},
    };
    enum { COUNT = 5000 };
    static const uint64_t CUTS[] = {0, 1, 511, 512, 513, 1024, 3000, 4999, COUNT};
    for (size_t c = 0; c < sizeof CASES / sizeof CASES[0]; c++) {
        unsigned size = wire_type_bytes(CASES[c].type);
        struct generator *g = parse(CASES[c].text, CASES[c].type);
        unsigned char *whole = make(CASES[c].text, CASES[c].type, COUNT, 7);
        unsigned char *parts = calloc(COUNT, size);
        assert_non_null(parts);
        for (size_t i = sizeof CUTS / sizeof CUTS[0] - 1; i-- > 0;) {
            generator_fill_part(g, CASES[c].type, COUNT, VALUES, 7, CUTS[i], CUTS[i + 1], parts);
            if (CUTS[i])
                assert_int_equal(parts[(CUTS[i] - 1) * size], 0);
        }
        assert_memory_equal(whole, parts, COUNT * (size_t)size);
        free(whole);
        free(parts);
    }
    assert_false(generator_mixes(parse("permutation", WIRE_int32)));
    assert_true(generator_mixes(parse("uniform(0, 1)", WIRE_int32)));
}

static void uniform_covers_its_range_evenly(void **state)
{
    (void)state;
    int32_t *v = make("uniform(-9, 9)", WIRE_int32, N, 1);
    unsigned seen[19] = {0};
    for (unsigned i = 0; i < N; i++) {
        assert_in_range(v[i] + 9, 0, 18);
        seen[v[i] + 9]++;
    }
    for (unsigned i = 0; i < 19; i++)
        assert_in_range(seen[i], N / 19 * 9 / 10, N / 19 * 11 / 10);
    free(v);
    v = make("uniform(-2147483648, 2147483647)", WIRE_int32, N, 1);
    unsigned negative = 0, low_bit = 0;
    for (unsigned i = 0; i < N; i++) {
        negative += v[i] < 0;
        low_bit += (unsigned)v[i] & 1;
    }
    assert_in_range(negative, N * 49 / 100, N * 51 / 100);
    assert_in_range(low_bit, N * 49 / 100, N * 51 / 100);
    free(v);
    int64_t *w = make("uniform(-9223372036854775807 - 1, 9223372036854775807)", WIRE_int64, N, 1);
    negative = 0;
    for (unsigned i = 0; i < N; i++)
        negative += w[i] < 0;
    assert_in_range(negative, N * 49 / 100, N * 51 / 100);
    free(w);
    w = make("uniform(5, 5000000000)", WIRE_int64, N, 1);
    double sum = 0;
    for (unsigned i = 0; i < N; i++) {
        assert_true(w[i] >= 5 && w[i] <= 5000000000);
        sum += (double)w[i] / N;
    }
    assert_true(sum > 2.45e9 && sum < 2.55e9);
    free(w);
}

static void floats_are_whole_without_a_decimal_point(void **state)
{
    (void)state;
    float *v = make("uniform(-9, 9)", WIRE_float32, N, 1);
    for (unsigned i = 0; i < N; i++)
        assert_true(v[i] == floorf(v[i]) && fabsf(v[i]) <= 9);
    free(v);
    v = make("uniform(-1.5, 9)", WIRE_float32, N, 1);
    unsigned whole = 0;
    for (unsigned i = 0; i < N; i++) {
        assert_true(v[i] >= -1.5f && v[i] <= 9);
        whole += v[i] == floorf(v[i]);
    }
    assert_true(whole < N / 100);
    free(v);
}

/* Data never looks the same to two tiles. */
static void tiles_get_different_sums(void **state)
{
    (void)state;
    int32_t *v = make("uniform(0, 9)", WIRE_int32, N, 3);
    int32_t first = 0, same = 0;
    for (unsigned tile = 0; tile < N / 1024; tile++) {
        int32_t sum = 0;
        for (unsigned i = 0; i < 1024; i++)
            sum += v[tile * 1024 + i];
        first = tile ? first : sum;
        same += sum == first;
    }
    assert_in_range(same, 1, 5);
    free(v);
}

static void the_plain_rows(void **state)
{
    (void)state;
    int32_t *v = make("constant(k - 40)", WIRE_int32, 1000, 1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v[i], -3);
    free(v);
    v = make("arange", WIRE_int32, 1000, 1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v[i], i);
    free(v);
    v = make("arange(k, -3)", WIRE_int32, 1000, 1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v[i], 37 - 3 * i);
    free(v);
    double *d = make("arange(0.5)", WIRE_float64, 1000, 1);
    for (int i = 0; i < 1000; i++)
        assert_true(d[i] == 0.5 + i);
    free(d);
    v = make("alternating(4, -5)", WIRE_int32, 1001, 1);
    for (int i = 0; i < 1001; i++)
        assert_int_equal(v[i], i % 2 ? -5 : 4);
    free(v);
    v = make("one_hot(n - 99001)", WIRE_int32, 2000, 1);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(v[i], i == 999);
    free(v);
    v = make("spikes_at(100)", WIRE_int32, 2000, 1);
    for (int i = 0; i < 2000; i++) {
        if (i % 100 == 0 || i % 100 == 99)
            assert_in_range(v[i], 1, 100);
        else
            assert_int_equal(v[i], 0);
    }
    free(v);
    v = make("bernoulli(0.25)", WIRE_int32, N, 1);
    int ones = 0;
    for (int i = 0; i < N; i++) {
        assert_in_range(v[i], 0, 1);
        ones += v[i];
    }
    assert_in_range(ones, N * 24 / 100, N * 26 / 100);
    free(v);
    v = make("multiples(4, k)", WIRE_int32, N, 1);
    unsigned seen[37] = {0};
    for (int i = 0; i < N; i++) {
        assert_in_range(v[i], 0, 36);
        seen[v[i]]++;
    }
    for (unsigned i = 0; i < 37; i++)
        assert_true(i % 4 ? seen[i] == 0 : seen[i] > N / 10 * 9 / 10);
    free(v);
}

static void permutations_hold_each_value_once(void **state)
{
    (void)state;
    static const uint64_t COUNTS[] = {0, 1, 2, 3, 255, 256, 257, 1000, N};
    for (unsigned c = 0; c < sizeof COUNTS / sizeof COUNTS[0]; c++) {
        uint32_t *v = make("permutation", WIRE_uint32, COUNTS[c], 9);
        bool *seen = calloc(COUNTS[c] + 1, 1);
        uint64_t moved = 0;
        for (uint64_t i = 0; i < COUNTS[c]; i++) {
            assert_true(v[i] < COUNTS[c] && !seen[v[i]]);
            seen[v[i]] = true;
            moved += v[i] != i;
        }
        assert_true(COUNTS[c] < 100 || moved > COUNTS[c] * 9 / 10);
        free(seen);
        free(v);
    }
}

static void sorted_is_ascending_and_spread(void **state)
{
    (void)state;
    int32_t *v = make("sorted(-50, 50)", WIRE_int32, N, 1);
    for (int i = 1; i < N; i++)
        assert_true(v[i - 1] <= v[i]);
    assert_int_equal(v[0], -50);
    assert_int_equal(v[N - 1], 50);
    free(v);
    float *f = make("sorted(-1.0, 1.0)", WIRE_float32, N, 1);
    for (int i = 1; i < N; i++)
        assert_true(f[i - 1] <= f[i]);
    assert_true(f[0] < -0.99f && f[N - 1] > 0.99f);
    free(f);
}

static void zipf_is_skewed_as_it_says(void **state)
{
    (void)state;
    int32_t *v = make("zipf(1.0, 4)", WIRE_int32, N, 1);
    double seen[4] = {0};
    for (int i = 0; i < N; i++) {
        assert_in_range(v[i], 0, 3);
        seen[v[i]]++;
    }
    const double sum = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4;
    for (int e = 0; e < 4; e++)
        assert_true(fabs(seen[e] / N - 1 / (sum * (e + 1))) < 0.01);
    free(v);
    v = make("zipf(0, k)", WIRE_int32, N, 1);
    unsigned even[37] = {0};
    for (int i = 0; i < N; i++)
        even[v[i]]++;
    for (int e = 0; e < 37; e++)
        assert_in_range(even[e], N / 37 * 9 / 10, N / 37 * 11 / 10);
    free(v);
    v = make("zipf(20, 1)", WIRE_int32, 10, 1);
    assert_int_equal(v[9], 0);
    free(v);
}

static void ids_outside_are_the_nasty_ones(void **state)
{
    (void)state;
    int32_t *v = make("ids(k, 0.25)", WIRE_int32, N, 1);
    unsigned outside = 0, minus_one = 0, end = 0, lowest = 0, seen[37] = {0};
    for (int i = 0; i < N; i++) {
        if (v[i] >= 0 && v[i] < 37)
            seen[v[i]]++;
        else
            outside++;
        minus_one += v[i] == -1;
        end += v[i] == 37;
        lowest += v[i] == INT32_MIN;
    }
    assert_in_range(outside, N * 24 / 100, N * 26 / 100);
    assert_true(minus_one > N / 20 && end > N / 20 && lowest > N / 50);
    for (int e = 0; e < 37; e++)
        assert_true(seen[e] > 0);
    free(v);
    v = make("ids(k)", WIRE_int32, N, 1);
    for (int i = 0; i < N; i++)
        assert_in_range(v[i], 0, 36);
    free(v);
    v = make("ids(k, 1)", WIRE_int32, N, 1);
    for (int i = 0; i < N; i++)
        assert_true(v[i] < 0 || v[i] >= 37);
    free(v);
}

static void kept_keeps_its_share(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double share;
    } TABLE[] = {{"kept(0)", 0}, {"kept(0.3)", 0.3}, {"kept(1)", 1}};
    for (unsigned t = 0; t < 3; t++) {
        float *v = make(TABLE[t].text, WIRE_float32, N, 1);
        int kept = 0, zeros = 0, negative_zeros = 0, negative = 0, same = 0;
        for (int i = 0; i < N; i++) {
            assert_true(fabsf(v[i]) < 256);
            kept += v[i] > 0;
            negative += v[i] < 0;
            zeros += v[i] == 0 && !signbit(v[i]);
            negative_zeros += v[i] == 0 && signbit(v[i]);
            same += i && v[i] == v[i - 1] && v[i] != 0;
        }
        assert_true(fabs((double)kept / N - TABLE[t].share) < 0.01);
        assert_true(same < 10);
        if (TABLE[t].share < 1)
            assert_true(zeros > N / 100 && negative_zeros > N / 100 && negative > N / 4);
        free(v);
    }
}

/* Which kinds of values are among `count` elements of a float type. */
static void assert_all_kinds(enum wire_type type)
{
    unsigned char *v = make("special_floats", type, N, 1);
    unsigned width = wire_type_bytes(type);
    unsigned nan[2] = {0}, infinite[2] = {0}, zero[2] = {0}, tiny[2] = {0}, normal[2] = {0};
    unsigned quiet = 0, signalling = 0;
    struct number_format f = number_format(type);
    double smallest = ldexp(1, 2 - (1 << (f.exponent_bits - 1)));
    for (unsigned i = 0; i < N; i++) {
        uint64_t bits = 0;
        memcpy(&bits, v + i * width, width);
        double x = number_to_double(type, bits);
        unsigned sign = bits >> (width * 8 - 1) & 1;
        if (isnan(x)) {
            nan[sign]++;
            *(bits >> (f.mantissa_bits - 1) & 1 ? &quiet : &signalling) += 1;
        } else if (isinf(x)) {
            infinite[sign]++;
        } else if (x == 0) {
            zero[sign]++;
        } else if (fabs(x) < smallest) {
            tiny[sign]++;
        } else {
            normal[sign]++;
        }
    }
    for (unsigned s = 0; s < 2; s++)
        assert_true(nan[s] > N / 50 && infinite[s] > N / 50 && zero[s] > N / 50 &&
                    tiny[s] > N / 50 && normal[s] > N / 4);
    assert_true(quiet > N / 50 && signalling > N / 50);
    free(v);
}

static void special_floats_hold_every_kind(void **state)
{
    (void)state;
    assert_all_kinds(WIRE_float16);
    assert_all_kinds(WIRE_bfloat16);
    assert_all_kinds(WIRE_float32);
    assert_all_kinds(WIRE_float64);
}

static void literals_are_stored_as_written(void **state)
{
    (void)state;
    struct generator *g = generator_literal(5, &arena);
    assert_null(generator_literal_add(g, WIRE_float32, "-0.0"));
    assert_null(generator_literal_add(g, WIRE_float32, "nan"));
    assert_null(generator_literal_add(g, WIRE_float32, "-.inf"));
    assert_null(generator_literal_add(g, WIRE_float32, "1e-45"));
    assert_non_null(generator_literal_add(g, WIRE_float32, "1e39"));
    assert_non_null(generator_literal_add(g, WIRE_float32, "0x10"));
    assert_non_null(generator_literal_add(g, WIRE_float32, "infinite"));
    assert_null(generator_literal_add(g, WIRE_float32, "+2.5"));
    struct err e;
    assert_int_equal(generator_check(g, WIRE_float32, 5, VALUES, &e), 0);
    assert_int_equal(generator_check(g, WIRE_float32, 4, VALUES, &e), -1);
    float v[5];
    generator_fill(g, WIRE_float32, 5, VALUES, 1, v);
    assert_true(v[0] == 0 && signbit(v[0]));
    assert_true(isnan(v[1]));
    assert_true(v[2] == -INFINITY);
    assert_true(v[3] == 0x1p-149f);
    assert_true(v[4] == 2.5f);
    g = generator_literal(3, &arena);
    assert_null(generator_literal_add(g, WIRE_int8, "-128"));
    assert_non_null(generator_literal_add(g, WIRE_int8, "128"));
    assert_non_null(generator_literal_add(g, WIRE_int8, "1.0"));
    assert_non_null(generator_literal_add(g, WIRE_int8, "nan"));
    assert_non_null(generator_literal_add(g, WIRE_uint8, "-1"));
    assert_null(generator_literal_add(g, WIRE_uint8, "255"));
}

static void what_a_type_cannot_hold_is_refused(void **state)
{
    (void)state;
    assert_check_refuses("uniform(-1, 9)", WIRE_uint8, 1);
    assert_check_refuses("uniform(0, 128)", WIRE_int8, 1);
    assert_check_refuses("constant(2049)", WIRE_float16, 1); /* not exact */
    assert_check_refuses("constant(70000.5)", WIRE_float16, 1);
    assert_check_refuses("constant(16777217)", WIRE_float32, 1);
    assert_check_refuses("arange", WIRE_uint8, 257);
    assert_check_refuses("arange(0, 9223372036854775807)", WIRE_int64, 3);
    assert_check_refuses("permutation", WIRE_int8, 129);
    assert_check_refuses("spikes_at(0)", WIRE_int32, 10);
    assert_check_refuses("one_hot(10)", WIRE_int32, 10);
    assert_check_refuses("one_hot(-1)", WIRE_int32, 10);
    assert_check_refuses("uniform(3, 2)", WIRE_int32, 10);
    assert_check_refuses("sorted(2.5, 2.5)", WIRE_float32, 10);
    assert_check_refuses("zipf(-1, 4)", WIRE_int32, 10);
    assert_check_refuses("zipf(1, 0)", WIRE_int32, 10);
    assert_check_refuses("zipf(1, 2000000)", WIRE_int32, 10);
    assert_check_refuses("ids(0)", WIRE_int32, 10);
    assert_check_refuses("multiples(0, 4)", WIRE_int32, 10);
    assert_check_refuses("multiples(2, 4, 4)", WIRE_int32, 10);
    assert_check_refuses("uniform(0, n / (k - 37))", WIRE_int32, 10);
    assert_parse_refuses("kept(0.5)", WIRE_int32);
    assert_parse_refuses("special_floats", WIRE_int32);
    assert_parse_refuses("ids(k)", WIRE_uint32);
    assert_parse_refuses("uniform(0.5, 1)", WIRE_int32);
    assert_parse_refuses("bernoulli(1 / 2)", WIRE_int32);
    assert_parse_refuses("bernoulli(-0.1)", WIRE_int32);
    assert_parse_refuses("uniform", WIRE_int32);
    assert_parse_refuses("permutation(3)", WIRE_int32);
    assert_parse_refuses("", WIRE_int32);
}

/* The same key gives the same elements, whatever their number; another key others. */
static void elements_depend_on_key_and_index_only(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum wire_type type;
    } TABLE[] = {{"uniform(-1000000, 1000000)", WIRE_int32},
                 {"uniform(0.0, 1.0)", WIRE_bfloat16},
                 {"kept(0.5)", WIRE_float32},
                 {"special_floats", WIRE_float64},
                 {"zipf(1.1, 1000)", WIRE_int16},
                 {"ids(1000, 0.1)", WIRE_int32}};
    for (unsigned t = 0; t < sizeof TABLE / sizeof TABLE[0]; t++) {
        unsigned width = wire_type_bytes(TABLE[t].type);
        void *a = make(TABLE[t].text, TABLE[t].type, 2000, 7);
        void *b = make(TABLE[t].text, TABLE[t].type, 700, 7);
        void *c = make(TABLE[t].text, TABLE[t].type, 700, 8);
        assert_memory_equal(a, b, 700 * width);
        assert_memory_not_equal(b, c, 700 * width);
        free(a);
        free(b);
        free(c);
    }
}

static void sixteen_bit_floats_round_to_even(void **state)
{
    (void)state;
    static const struct {
        enum wire_type type;
        double value;
        uint64_t bits;
    } TABLE[] = {
        {WIRE_float16, 1, 0x3c00},
        {WIRE_float16, -2, 0xc000},
        {WIRE_float16, 65504, 0x7bff},
        {WIRE_float16, 65519.9, 0x7bff},
        {WIRE_float16, 65520, 0x7c00},
        {WIRE_float16, 1 + 0x1p-11, 0x3c00},           /* tie, down to even */
        {WIRE_float16, 1 + 3 * 0x1p-11, 0x3c02},       /* tie, up to even */
        {WIRE_float16, 1 + 0x1p-11 + 0x1p-40, 0x3c01}, /* through float it would be a tie */
        {WIRE_float16, 0x1p-14, 0x0400},
        {WIRE_float16, 0x1p-24, 0x0001},
        {WIRE_float16, 0x1p-25, 0x0000}, /* tie with zero */
        {WIRE_float16, 0x1.8p-25, 0x0001},
        {WIRE_float16, 0x1p-26, 0x0000},
        {WIRE_float16, -0.0, 0x8000},
        {WIRE_float16, 0x1.ff8p-15, 0x03ff},
        {WIRE_float16, 0x1.ffcp-15, 0x0400}, /* a subnormal that rounds up to normal */
        {WIRE_bfloat16, 1, 0x3f80},
        {WIRE_bfloat16, 1 + 0x1p-8, 0x3f80},
        {WIRE_bfloat16, 1 + 3 * 0x1p-8, 0x3f82},
        {WIRE_bfloat16, -INFINITY, 0xff80},
        {WIRE_bfloat16, 0x1p-133, 0x0001},
        {WIRE_float32, 16777217, 0x4b800000},
        {WIRE_float32, 0x1p-149, 1},
        {WIRE_float32, 1e39, 0x7f800000},
    };
    for (unsigned i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
        uint64_t bits = number_from_double(TABLE[i].type, TABLE[i].value);
        if (bits != TABLE[i].bits)
            fail_msg("%s of %a is %llx", wire_type_name(TABLE[i].type), TABLE[i].value,
                     (unsigned long long)bits);
    }
    /* Every 16-bit pattern survives the way to double and back, NaNs as NaNs. */
    for (unsigned t = 0; t < 2; t++) {
        enum wire_type type = t ? WIRE_bfloat16 : WIRE_float16;
        for (uint64_t bits = 0; bits < 65536; bits++) {
            double v = number_to_double(type, bits);
            uint64_t back = number_from_double(type, v);
            if (isnan(v) ? !isnan(number_to_double(type, back)) : back != bits)
                fail_msg("%s %llx became %llx", wire_type_name(type), (unsigned long long)bits,
                         (unsigned long long)back);
        }
    }
    /* float32 as the compiler rounds it. */
    for (unsigned i = 0; i < 100000; i++) {
        double v = ldexp(1 + i * 0x1.234567p-17, (int)(i % 300) - 150);
        float f = (float)v;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        assert_int_equal(number_from_double(WIRE_float32, v), bits);
        assert_true(number_to_double(WIRE_float32, bits) == (double)f);
    }
}

static int start(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(uniform_covers_its_range_evenly),
        cmocka_unit_test(floats_are_whole_without_a_decimal_point),
        cmocka_unit_test(tiles_get_different_sums),
        cmocka_unit_test(the_plain_rows),
        cmocka_unit_test(permutations_hold_each_value_once),
        cmocka_unit_test(sorted_is_ascending_and_spread),
        cmocka_unit_test(zipf_is_skewed_as_it_says),
        cmocka_unit_test(ids_outside_are_the_nasty_ones),
        cmocka_unit_test(kept_keeps_its_share),
        cmocka_unit_test(special_floats_hold_every_kind),
        cmocka_unit_test(literals_are_stored_as_written),
        cmocka_unit_test(what_a_type_cannot_hold_is_refused),
        cmocka_unit_test(elements_depend_on_key_and_index_only),
        cmocka_unit_test(sixteen_bit_floats_round_to_even),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
