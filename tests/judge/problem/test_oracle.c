/* Serial oracles: answers worked out by hand, wrapping, elements past the count, binding. */
#include "judge/problem/oracle.h"
#include "judge/problem/problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

/* Loads a spec with one case, fills its input, and gives every output memory full of 0x5a. */
static void prepare(const char *text, struct problem *p, struct case_data *data)
{
    struct err e;
    if (problem_parse("problems/x/problem.yaml", text, strlen(text), &arena, p, &e) != 0 ||
        problem_case_sizes(p, &p->cases[0], 5, &arena, data, &e) != 0)
        fail_msg("%s", e.text);
    for (unsigned i = 0; i < p->param_count; i++) {
        struct case_buffer *b = &data->buffers[i];
        if (p->params[i].kind != PARAM_BUFFER)
            continue;
        if (p->params[i].role == WIRE_INPUT || p->params[i].role == WIRE_INOUT)
            b->input = arena_alloc(&arena, b->bytes);
        if (p->params[i].role == WIRE_OUTPUT || p->params[i].role == WIRE_INOUT)
            b->expected = memset(arena_alloc(&arena, b->bytes + 16), 0x5a, b->bytes + 16);
    }
    problem_case_fill(data);
    if (oracle_expected(data, &e) != 0)
        fail_msg("%s", e.text);
}

#define HEAD "format: 1\ntitle: T\ndifficulty: easy\nentry: f\n"
#define N    "variables: {n: {min: 0}}\n"

static void scan_is_exclusive(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                   "  - {name: out, type: int32*, role: output, shape: [n]}\n"
                   "check: {out: exact}\noracle: exclusive_scan\n"
                   "cases: [{name: a, n: 8, in: [3, 1, 7, 0, 4, 1, 6, 3]}]\n",
            &p, &data);
    const int expected[] = {0, 3, 4, 11, 11, 15, 16, 22};
    assert_memory_equal(data.buffers[1].expected, expected, sizeof expected);
    assert_int_equal(((unsigned char *)data.buffers[1].expected)[32], 0x5a);
}

static void scan_wraps_and_takes_parameters_by_role(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: y, type: int32*, role: output, shape: [n]}\n"
                   "  - {name: x, type: int32*, role: input, shape: [n]}\n"
                   "check: {y: exact}\noracle: exclusive_scan\n"
                   "cases: [{name: a, n: 4, x: [2147483647, 1, -2147483648, 5]}]\n",
            &p, &data);
    const int expected[] = {0, 2147483647, -2147483647 - 1, 0};
    assert_memory_equal(data.buffers[0].expected, expected, sizeof expected);
}

static void scan_in_place(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters: [{name: a, type: int32*, role: inout, shape: [n]}]\n"
                   "check: {a: exact}\noracle: exclusive_scan\n"
                   "cases: [{name: a, n: 3, a: [5, 6, 7]}]\n",
            &p, &data);
    const int input[] = {5, 6, 7}, expected[] = {0, 5, 11};
    assert_memory_equal(data.buffers[0].input, input, sizeof input);
    assert_memory_equal(data.buffers[0].expected, expected, sizeof expected);
}

static void scan_takes_any_integer_type(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: in, type: int8*, role: input, shape: [n]}\n"
                   "  - {name: other, type: int32*, role: output, shape: [1]}\n"
                   "  - {name: out, type: int8*, role: output, shape: [n]}\n"
                   "check: {out: exact, other: exact}\noracle: exclusive_scan\n"
                   "cases: [{name: a, n: 4, in: [100, 100, -128, 1]}]\n",
            &p, &data);
    const signed char expected[] = {0, 100, -56, 72, 0x5a};
    assert_memory_equal(data.buffers[2].expected, expected, sizeof expected);
    prepare(HEAD N "parameters: [{name: a, type: uint64*, role: inout, shape: [n]}]\n"
                   "check: {a: exact}\noracle: exclusive_scan\n"
                   "cases: [{name: a, n: 3, a: [4294967295, 4294967295, 1]}]\n",
            &p, &data);
    const uint64_t wide[] = {0, 4294967295u, 8589934590u};
    assert_memory_equal(data.buffers[0].expected, wide, sizeof wide);
}

static void maps_compose_in_order(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: values, type: int32*, role: input, shape: [n]}\n"
                   "  - {name: max_before, type: int32*, role: output, shape: [n]}\n"
                   "  - {name: scale, type: uint32*, role: input, shape: [n]}\n"
                   "  - {name: shift, type: uint32*, role: input, shape: [n]}\n"
                   "  - {name: composed_scale, type: uint32*, role: output, shape: [n]}\n"
                   "  - {name: composed_shift, type: uint32*, role: output, shape: [n]}\n"
                   "check: {max_before: exact, composed_scale: exact, composed_shift: exact}\n"
                   "oracle: generic_scan\n"
                   "cases: [{name: a, n: 4, values: [-3, -7, 7, 0], scale: [2, 3, 1, 2],"
                   " shift: [1, 0, 5, 1]}]\n",
            &p, &data);
    const int largest[] = {INT32_MIN, -3, -3, 7};
    const unsigned scale[] = {1, 2, 6, 6}, shift[] = {0, 1, 3, 8};
    assert_memory_equal(data.buffers[1].expected, largest, sizeof largest);
    assert_memory_equal(data.buffers[4].expected, scale, sizeof scale);
    assert_memory_equal(data.buffers[5].expected, shift, sizeof shift);
}

static void segments_start_at_any_nonzero_head(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                   "  - {name: heads, type: uint8*, role: input, shape: [n]}\n"
                   "  - {name: out, type: int32*, role: output, shape: [n]}\n"
                   "check: {out: exact}\noracle: segmented_scan\n"
                   "cases: [{name: a, n: 6, in: [3, 1, 7, 2147483647, 1, 6],"
                   " heads: [0, 0, 128, 0, 0, 1]}]\n",
            &p, &data);
    const int expected[] = {3, 4, 7, -2147483642, -2147483641, 6};
    assert_memory_equal(data.buffers[2].expected, expected, sizeof expected);
}

static void floats_are_added_in_double(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: in, type: float32*, role: input, shape: [n]}\n"
                   "  - {name: out, type: float32*, role: output, shape: [n]}\n"
                   "check: {out: scan_error_bound}\noracle: float_scan\n"
                   "cases: [{name: a, n: 4, in: [16777216, 1, 1, -16777216]}]\n",
            &p, &data);
    const float expected[] = {16777216, 16777216, 16777218, 2};
    assert_memory_equal(data.buffers[1].expected, expected, sizeof expected);
}

static void partition_keeps_both_sides_in_order(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD "variables: {n: {min: 0}, pivot: {}}\n"
                 "parameters:\n"
                 "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                 "  - {name: out, type: int32*, role: output, shape: [n]}\n"
                 "  - {name: count, type: int32*, role: output, shape: [1]}\n"
                 "  - {name: pivot, type: int32, value: pivot}\n"
                 "check: {out: exact, count: exact}\noracle: partition\n"
                 "cases: [{name: a, n: 6, pivot: 3, in: [5, 3, -1, 2, 9, 0]}]\n",
            &p, &data);
    const int expected[] = {-1, 2, 0, 5, 3, 9}, count = 3;
    assert_memory_equal(data.buffers[1].expected, expected, sizeof expected);
    assert_memory_equal(data.buffers[2].expected, &count, sizeof count);
}

static void histogram_leaves_out_what_has_no_bin(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: in, type: int8*, role: input, shape: [n]}\n"
                   "  - {name: counts, type: int32*, role: output, shape: [3]}\n"
                   "check: {counts: exact}\noracle: histogram\n"
                   "cases: [{name: a, n: 6, in: [2, 0, -1, 3, 2, 2]}]\n",
            &p, &data);
    const int expected[] = {1, 0, 3};
    assert_memory_equal(data.buffers[1].expected, expected, sizeof expected);
}

#define PAIRS(type)                                                                                \
    "parameters:\n"                                                                                \
    "  - {name: keys, type: " type ", role: input, shape: [n]}\n"                                  \
    "  - {name: values, type: " type ", role: input, shape: [n]}\n"                                \
    "  - {name: keys_out, type: " type ", role: output, shape: [n]}\n"                             \
    "  - {name: values_out, type: " type ", role: output, shape: [n]}\n"
#define PAIRS_CHECK "check: {keys_out: exact, values_out: exact}\n"

static void split_by_a_bit_is_stable(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD "variables: {n: {min: 0}, bit: {}}\n" PAIRS(
                "uint32*") "  - {name: bit, type: int32, value: bit}\n" PAIRS_CHECK
                           "oracle: radix_split\n"
                           "cases: [{name: a, n: 5, bit: 31, keys: [2147483648, 1, 4294967295, 0, "
                           "7], values: [0, 1, 2, 3, 4]}]\n",
            &p, &data);
    const unsigned keys[] = {1, 0, 7, 2147483648u, 4294967295u}, values[] = {1, 3, 4, 0, 2};
    assert_memory_equal(data.buffers[2].expected, keys, sizeof keys);
    assert_memory_equal(data.buffers[3].expected, values, sizeof values);
}

static void sort_is_stable_and_knows_signs(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N PAIRS("int32*") PAIRS_CHECK
            "oracle: radix_sort\n"
            "cases: [{name: a, n: 6, keys: [5, -1, 70000, 5, -70000, -1],"
            " values: [0, 1, 2, 3, 4, 5]}]\n",
            &p, &data);
    const int keys[] = {-70000, -1, -1, 5, 5, 70000}, values[] = {4, 1, 5, 0, 3, 2};
    assert_memory_equal(data.buffers[2].expected, keys, sizeof keys);
    assert_memory_equal(data.buffers[3].expected, values, sizeof values);
    prepare(HEAD N PAIRS("uint64*") PAIRS_CHECK
            "oracle: radix_sort\n"
            "cases: [{name: a, n: 3, keys: [9223372036854775807, 0, 3], values: [7, 8, 9]}]\n",
            &p, &data);
    const uint64_t wide[] = {0, 3, 9223372036854775807u};
    assert_memory_equal(data.buffers[2].expected, wide, sizeof wide);
}

static void runs_are_counted_and_the_rest_is_left(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                   "  - {name: values, type: int32*, role: output, shape: [n]}\n"
                   "  - {name: lengths, type: int32*, role: output, shape: [n]}\n"
                   "  - {name: count, type: int32*, role: output, shape: [1]}\n"
                   "check: {values: prefix(count), lengths: prefix(count), count: exact}\n"
                   "oracle: run_length_encode\n"
                   "cases: [{name: a, n: 6, in: [4, 4, -1, 4, 4, 4]}]\n",
            &p, &data);
    const int values[] = {4, -1, 4, 0x5a5a5a5a}, lengths[] = {2, 1, 3, 0x5a5a5a5a}, count = 3;
    assert_memory_equal(data.buffers[1].expected, values, sizeof values);
    assert_memory_equal(data.buffers[2].expected, lengths, sizeof lengths);
    assert_memory_equal(data.buffers[3].expected, &count, sizeof count);
}

static void misfits_say_what_is_needed(void **state)
{
    (void)state;
    static const char *const PARAMETERS[] = {
        "in, type: float32*, role: input, shape: [n]}, {name: out, type: float32*",
        "in, type: int32*, role: input, shape: [n]}, {name: out, type: int64*",
    };
    for (size_t i = 0; i < sizeof PARAMETERS / sizeof PARAMETERS[0]; i++) {
        struct problem p;
        struct err e;
        const char *text =
            arena_printf(&arena,
                         HEAD N "parameters: [{name: %s, role: output, shape: [n]}]\n"
                                "check: {out: exact}\noracle: exclusive_scan\n"
                                "cases: [{name: a, n: 0}]\n",
                         PARAMETERS[i]);
        assert_int_equal(
            problem_parse("problems/x/problem.yaml", text, strlen(text), &arena, &p, &e), -1);
        if (!strstr(e.text, "input of any integer type (in), output of the same type (out)"))
            fail_msg("%s", e.text);
    }
}

static void elements_are_numbers_of_their_type(void **state)
{
    (void)state;
    const int16_t small[] = {-3, 7};
    const uint32_t large[] = {4294967295u};
    const uint16_t half[] = {0x3e00}; /* 1.5 */
    struct oracle_operand o = {.type = WIRE_int16, .count = 2, .in = small};
    assert_int_equal(oracle_int(&o, 0), -3);
    assert_true(oracle_real(&o, 1) == 7);
    o = (struct oracle_operand){.type = WIRE_uint32, .count = 1, .in = large};
    assert_true(oracle_int(&o, 0) == 4294967295 && oracle_real(&o, 0) == 4294967295.0);
    o = (struct oracle_operand){.type = WIRE_float16, .count = 1, .in = half};
    assert_true(oracle_int(&o, 0) == 1 && oracle_real(&o, 0) == 1.5);
    int16_t out[2] = {0};
    struct oracle_operand to = {.type = WIRE_int16, .count = 2, .out = out};
    struct oracle_operand from = {.type = WIRE_int16, .count = 2, .in = small};
    oracle_put_int(&to, 0, 65537);
    oracle_move(&to, 1, &from, 0);
    assert_true(out[0] == 1 && out[1] == -3);
    uint16_t rounded = 0;
    to = (struct oracle_operand){.type = WIRE_float16, .count = 1, .out = &rounded};
    oracle_put_real(&to, 0, 1.50001);
    assert_int_equal(rounded, 0x3e00);
}

static const char COMPACTION[] =
    HEAD N "parameters:\n"
           "  - {name: in, type: float32*, role: input, shape: [n]}\n"
           "  - {name: out, type: float32*, role: output, shape: [n]}\n"
           "  - {name: count, type: int32*, role: output, shape: [1]}\n"
           "check: {out: prefix(count), count: exact}\noracle: compact_positive\n";

static void compact(const char *cases, struct case_data *data)
{
    static struct problem p;
    prepare(arena_printf(&arena, "%s%s", COMPACTION, cases), &p, data);
}

static void compaction_keeps_order_and_leaves_the_rest(void **state)
{
    (void)state;
    struct case_data data;
    compact("cases: [{name: a, n: 9, in: [nan, 2, -inf, inf, -0.0, 0.0, 1e-45, -1e-45, 1]}]\n",
            &data);
    const float *out = data.buffers[1].expected;
    assert_int_equal(*(int *)data.buffers[2].expected, 4);
    assert_true(out[0] == 2 && out[1] == INFINITY && out[2] == 0x1p-149f && out[3] == 1);
    const unsigned char *rest = (const unsigned char *)(out + 4);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(rest[i], 0x5a);
}

static void compaction_of_all_none_and_nothing(void **state)
{
    (void)state;
    struct case_data data;
    compact("cases: [{name: a, n: 2, in: [1, 2]}]\n", &data);
    assert_int_equal(*(int *)data.buffers[2].expected, 2);
    assert_true(((float *)data.buffers[1].expected)[1] == 2);
    assert_int_equal(((unsigned char *)data.buffers[1].expected)[8], 0x5a);
    compact("cases: [{name: a, n: 2, in: [-1, -2]}]\n", &data);
    assert_int_equal(*(int *)data.buffers[2].expected, 0);
    assert_int_equal(((unsigned char *)data.buffers[1].expected)[0], 0x5a);
    compact("cases: [{name: a, n: 0}]\n", &data);
    assert_int_equal(*(int *)data.buffers[2].expected, 0);
}

static void moe_counts_only_valid_ids(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD "variables: {t: {min: 0}, e: {min: 1}}\n"
                 "parameters:\n"
                 "  - {name: ids, type: int32*, role: input, shape: [t, 2]}\n"
                 "  - {name: offsets, type: int32*, role: output, shape: [e]}\n"
                 "  - {name: counts, type: int32*, role: output, shape: [e]}\n"
                 "check: {offsets: exact, counts: exact}\noracle: moe_counts_offsets\n"
                 "cases: [{name: a, t: 4, e: 4, ids: [3, 0, -1, 1, 4, 0, -2147483648, 3]}]\n",
            &p, &data);
    /* Both outputs are int32: their names tell them apart, not their order. */
    const int counts[] = {2, 1, 0, 2}, offsets[] = {0, 2, 3, 3};
    assert_memory_equal(data.buffers[2].expected, counts, sizeof counts);
    assert_memory_equal(data.buffers[1].expected, offsets, sizeof offsets);
}

static void tables_hold_rectangles(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD "variables: {rows: {min: 0}, columns: {min: 0}}\n"
                 "parameters:\n"
                 "  - {name: in, type: int32*, role: input, shape: [rows, columns]}\n"
                 "  - {name: table, type: int64*, role: output, shape: [rows, columns]}\n"
                 "  - {name: box, type: int64*, role: output, shape: [rows, columns]}\n"
                 "  - {name: columns, type: int32, value: columns}\n"
                 "  - {name: radius, type: int32, value: 1}\n"
                 "check: {table: exact, box: exact}\noracle: summed_area_table\n"
                 "cases: [{name: a, rows: 2, columns: 3, in: [2147483647, 1, 7, 1, -4, 2]}]\n",
            &p, &data);
    const int64_t table[] = {2147483647, 2147483648, 2147483655,
                             2147483648, 2147483645, 2147483654};
    const int64_t box[] = {2147483645, 2147483654, 6, 2147483645, 2147483654, 6};
    assert_memory_equal(data.buffers[1].expected, table, sizeof table);
    assert_memory_equal(data.buffers[2].expected, box, sizeof box);
}

static void recurrences_run_back_to_the_key(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: keys, type: int32*, role: input, shape: [n]}\n"
                   "  - {name: x, type: float32*, role: input, shape: [n]}\n"
                   "  - {name: decay, type: float32*, role: input, shape: [n]}\n"
                   "  - {name: y, type: float32*, role: output, shape: [n]}\n"
                   "check: {y: exact}\noracle: linear_recurrence\n"
                   "cases: [{name: a, n: 5, keys: [2, 2, 1, 2, 2], x: [1, 2, 5, 3, 4],"
                   " decay: [0.5, 9, 9, -0.25, 9]}]\n",
            &p, &data);
    const float expected[] = {2, 2, 5, 2, 4};
    assert_memory_equal(data.buffers[3].expected, expected, sizeof expected);
}

static void tokens_are_drawn_from_what_reaches_p(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: weights, type: float32*, role: input, shape: [n, 3]}\n"
                   "  - {name: p, type: float32*, role: input, shape: [n]}\n"
                   "  - {name: u, type: float32*, role: input, shape: [n]}\n"
                   "  - {name: kept, type: int32*, role: output, shape: [n]}\n"
                   "  - {name: mass, type: float32*, role: output, shape: [n]}\n"
                   "  - {name: token, type: int32*, role: output, shape: [n]}\n"
                   "  - {name: vocabulary, type: int32, value: 3}\n"
                   "check: {kept: exact, mass: exact, token: exact}\noracle: top_p_sampling\n"
                   "cases: [{name: a, n: 5, weights: [2, 1, 1, 0, 3, 0, 2, 0, 2, 0, 0, 0, 1, 1, 2],"
                   " p: [0.75, 1, 0.5, 1, 1], u: [0.5, 0, 1, 0.5, 1]}]\n",
            &p, &data);
    const int kept[] = {2, 2, 1, 1, 3}, token[] = {0, 1, 0, 0, 2};
    assert_memory_equal(data.buffers[3].expected, kept, sizeof kept);
    const float mass[] = {3, 3, 2, 0, 4};
    assert_memory_equal(data.buffers[4].expected, mass, sizeof mass);
    assert_memory_equal(data.buffers[5].expected, token, sizeof token);
}

/* Parts of every length from 1 on, filled from the last to the first: what one of them writes
 * beyond itself is found. */
static void check_parts(const char *text, unsigned first_output)
{
    struct problem p;
    struct case_data data;
    prepare(text, &p, &data);
    uint64_t n = oracle_part_elements(&data);
    assert_true(n > 0);
    void *whole[8] = {NULL};
    for (unsigned i = first_output; i < p.param_count; i++) {
        if (p.params[i].kind != PARAM_BUFFER)
            continue;
        whole[i] = data.buffers[i].expected;
        data.buffers[i].expected = arena_alloc(&arena, data.buffers[i].bytes + 16);
    }
    for (uint64_t length = 1; length <= n + 1; length += length / 3 + 1) {
        uint64_t before[4096] = {0}, parts = (n + length - 1) / length;
        assert_true(parts < 4096);
        for (uint64_t k = 0; k < parts; k++)
            before[k + 1] = before[k] + oracle_part_sum(&data, k * length,
                                                        k + 1 < parts ? (k + 1) * length : n);
        for (unsigned i = first_output; i < p.param_count; i++)
            if (whole[i])
                memset(data.buffers[i].expected, 0x5a, data.buffers[i].bytes + 16);
        for (uint64_t k = parts; k-- > 0;)
            oracle_part_fill(&data, k * length, k + 1 < parts ? (k + 1) * length : n, before[k]);
        for (unsigned i = first_output; i < p.param_count; i++)
            if (whole[i])
                assert_memory_equal(data.buffers[i].expected, whole[i], data.buffers[i].bytes + 16);
    }
}

static void parts_come_to_the_whole(void **state)
{
    (void)state;
    check_parts(HEAD N "parameters:\n"
                       "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                       "  - {name: out, type: int32*, role: output, shape: [n]}\n"
                       "check: {out: exact}\noracle: exclusive_scan\n"
                       "cases: [{name: a, n: 200, in: uniform(-2147483648, 2147483647)}]\n",
                1);
    check_parts(HEAD N "parameters:\n"
                       "  - {name: in, type: int64*, role: input, shape: [n]}\n"
                       "  - {name: out, type: int64*, role: output, shape: [n - 3]}\n"
                       "check: {out: exact}\noracle: exclusive_scan\n"
                       "cases: [{name: a, n: 201, in: uniform(-9, 9)}]\n",
                1);
    check_parts(HEAD N "parameters:\n"
                       "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                       "  - {name: out, type: int64*, role: output, shape: [n]}\n"
                       "check: {out: exact}\noracle: inclusive_scan\n"
                       "cases: [{name: a, n: 199, in: uniform(-2147483648, 5)}]\n",
                1);
    for (int i = 0; i < 2; i++)
        check_parts(arena_printf(&arena,
                                 HEAD N "parameters:\n"
                                        "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                                        "  - {name: out, type: int32*, role: output, shape: [n]}\n"
                                        "  - {name: length, type: int32, value: 7}\n"
                                        "check: {out: exact}\noracle: %s_scan_rows\n"
                                        "cases: [{name: a, n: 203, in: uniform(-9, 2147483647)}]\n",
                                 i ? "inclusive" : "exclusive"),
                    1);
    check_parts(HEAD N "parameters:\n"
                       "  - {name: in, type: int32*, role: input, shape: [n]}\n"
                       "  - {name: out, type: int32*, role: output, shape: [n]}\n"
                       "  - {name: totals, type: int32*, role: output, shape: [4]}\n"
                       "check: {out: exact, totals: exact}\noracle: exclusive_scan_1024\n"
                       "cases: [{name: a, n: 2100, in: uniform(-9, 9)}]\n",
                1);
    check_parts(
        arena_printf(&arena, "%scases: [{name: a, n: 203, in: uniform(-5, 5)}]\n", COMPACTION), 1);
}

static void others_have_no_parts(void **state)
{
    (void)state;
    struct problem p;
    struct case_data data;
    prepare(HEAD N "parameters:\n"
                   "  - {name: ids, type: int32*, role: input, shape: [n]}\n"
                   "  - {name: counts, type: int32*, role: output, shape: [4]}\n"
                   "  - {name: offsets, type: int32*, role: output, shape: [4]}\n"
                   "check: {counts: exact, offsets: exact}\noracle: moe_counts_offsets\n"
                   "cases: [{name: a, n: 9, ids: uniform(0, 3)}]\n",
            &p, &data);
    assert_int_equal(oracle_part_elements(&data), 0);
}

static void no_oracle_is_said(void **state)
{
    (void)state;
    static const char TEXT[] =
        HEAD N "parameters: [{name: a, type: int32*, role: inout, shape: [n]}]\n"
               "check: {a: exact}\nreference: a.cu\ncases: [{name: a, n: 0}]\n";
    struct problem p;
    struct err e;
    struct case_data data;
    assert_int_equal(problem_parse("problems/x/problem.yaml", TEXT, strlen(TEXT), &arena, &p, &e),
                     0);
    assert_int_equal(problem_case_sizes(&p, &p.cases[0], 5, &arena, &data, &e), 0);
    assert_int_equal(oracle_expected(&data, &e), -1);
    assert_non_null(strstr(e.text, "no oracle"));
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
        cmocka_unit_test(scan_is_exclusive),
        cmocka_unit_test(scan_wraps_and_takes_parameters_by_role),
        cmocka_unit_test(scan_in_place),
        cmocka_unit_test(scan_takes_any_integer_type),
        cmocka_unit_test(maps_compose_in_order),
        cmocka_unit_test(segments_start_at_any_nonzero_head),
        cmocka_unit_test(floats_are_added_in_double),
        cmocka_unit_test(partition_keeps_both_sides_in_order),
        cmocka_unit_test(histogram_leaves_out_what_has_no_bin),
        cmocka_unit_test(split_by_a_bit_is_stable),
        cmocka_unit_test(sort_is_stable_and_knows_signs),
        cmocka_unit_test(runs_are_counted_and_the_rest_is_left),
        cmocka_unit_test(misfits_say_what_is_needed),
        cmocka_unit_test(elements_are_numbers_of_their_type),
        cmocka_unit_test(compaction_keeps_order_and_leaves_the_rest),
        cmocka_unit_test(compaction_of_all_none_and_nothing),
        cmocka_unit_test(moe_counts_only_valid_ids),
        cmocka_unit_test(tables_hold_rectangles),
        cmocka_unit_test(recurrences_run_back_to_the_key),
        cmocka_unit_test(tokens_are_drawn_from_what_reaches_p),
        cmocka_unit_test(parts_come_to_the_whole),
        cmocka_unit_test(others_have_no_parts),
        cmocka_unit_test(no_oracle_is_said),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
