/* The oracles of oracle_scan.c called directly: rows that are full, short and missing, sums that
 * wrap in the type of the output, and nothing written past the smaller of two counts. */
#include "judge/problem/oracle.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct oracle_operand input(enum wire_type type, const void *bytes, uint64_t count)
{
    return (struct oracle_operand){.type = type, .in = bytes, .count = count};
}

static struct oracle_operand output(enum wire_type type, void *bytes, uint64_t count)
{
    return (struct oracle_operand){.type = type, .out = bytes, .count = count};
}

static struct oracle_operand number(int64_t value)
{
    return (struct oracle_operand){.type = WIRE_int32, .count = 1, .value = value};
}

static void inclusive_into_a_wider_type(void **state)
{
    (void)state;
    const int32_t in[] = {INT_MAX, INT_MAX, -5};
    const int64_t right[] = {INT_MAX, 2ll * INT_MAX, 2ll * INT_MAX - 5};
    int64_t out[4] = {0, 0, 0, 77};
    struct oracle_operand o[] = {input(WIRE_int32, in, 3), output(WIRE_int64, out, 3)};
    oracle_inclusive_scan(o);
    assert_memory_equal(out, right, sizeof right);
    assert_int_equal(out[3], 77);
}

static void inclusive_wraps_in_its_own_type(void **state)
{
    (void)state;
    const int32_t in[] = {INT_MAX, 1, 1}, right[] = {INT_MAX, INT_MIN, INT_MIN + 1};
    int32_t out[3];
    struct oracle_operand o[] = {input(WIRE_int32, in, 3), output(WIRE_int32, out, 3)};
    oracle_inclusive_scan(o);
    assert_memory_equal(out, right, sizeof right);
}

static void rows_of_a_length(void **state)
{
    (void)state;
    const int32_t in[] = {1, 2, 3, 4, 5, 6, 7};
    const int32_t inclusive[] = {1, 3, 6, 4, 9, 15, 7}, exclusive[] = {0, 1, 3, 0, 4, 9, 0};
    int32_t out[7];
    struct oracle_operand o[] = {input(WIRE_int32, in, 7), output(WIRE_int32, out, 7), number(3)};
    oracle_inclusive_scan_rows(o);
    assert_memory_equal(out, inclusive, sizeof inclusive);
    oracle_exclusive_scan_rows(o);
    assert_memory_equal(out, exclusive, sizeof exclusive);
}

static void fixed_rows_and_their_totals(void **state)
{
    (void)state;
    enum { N = 4100 };
    static int32_t in[N], out[N];
    int32_t totals[6] = {0, 0, 0, 0, 0, 77};
    for (int i = 0; i < N; i++)
        in[i] = i;
    struct oracle_operand o[] = {input(WIRE_int32, in, N), output(WIRE_int32, out, N),
                                 output(WIRE_int32, totals, 5)};
    oracle_inclusive_scan_32(o);
    assert_int_equal(out[31], 31 * 32 / 2);
    assert_int_equal(out[32], 32);
    assert_int_equal(out[4099], 4096 + 4097 + 4098 + 4099);
    oracle_inclusive_scan_4096(o);
    assert_int_equal(out[4095], 4095 * 4096 / 2);
    assert_int_equal(out[4096], 4096);
    oracle_exclusive_scan_1024(o);
    assert_int_equal(out[1023], 1022 * 1023 / 2);
    assert_int_equal(out[1024], 0);
    assert_int_equal(out[1025], 1024);
    assert_int_equal(totals[0], 1023 * 1024 / 2);
    assert_int_equal(totals[4], 4096 + 4097 + 4098 + 4099);
    assert_int_equal(totals[5], 77);
}

static void nothing_at_all(void **state)
{
    (void)state;
    int32_t out[1] = {77};
    struct oracle_operand o[] = {input(WIRE_int32, NULL, 0), output(WIRE_int32, out, 0),
                                 output(WIRE_int32, out, 0)};
    oracle_inclusive_scan(o);
    oracle_inclusive_scan_32(o);
    oracle_exclusive_scan_1024(o);
    assert_int_equal(out[0], 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inclusive_into_a_wider_type),
        cmocka_unit_test(inclusive_wraps_in_its_own_type),
        cmocka_unit_test(rows_of_a_length),
        cmocka_unit_test(fixed_rows_and_their_totals),
        cmocka_unit_test(nothing_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
