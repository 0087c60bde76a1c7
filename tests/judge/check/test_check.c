/* Guards, inputs, untouched outputs, and every way to compare. */
#include "fake.h"

#include <math.h>
#include <stdio.h>

static void scan_case(struct fake *f, unsigned n)
{
    int32_t in[64] = {0}, out[64] = {0};
    for (unsigned i = 0; i < n; i++) {
        in[i] = (int32_t)(i % 7) - 2;
        out[i] = i ? out[i - 1] + in[i - 1] : 0;
    }
    fake_init(f);
    fake_buffer(f, "in", WIRE_INPUT, WIRE_int32, in, n);
    fake_buffer(f, "out", WIRE_OUTPUT, WIRE_int32, out, n);
    fake_buffer(f, "workspace", WIRE_WORKSPACE, WIRE_void, in, 0);
    fake_check(f, 1, COMPARE_exact, -1, -1);
    fake_untouched(f);
}

static void right_answer_passes(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 40);
    fake_answer(&f, 1);
    assert_true(fake_judge(&f)->ok);
    assert_null(f.result.mismatch.output);
    assert_int_equal(f.result.finding_count, 0);
    fake_release(&f);
}

static void empty_case_passes_untouched(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 0);
    assert_true(fake_judge(&f)->ok);
    fake_release(&f);
}

static void untouched_output_is_told(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 40);
    assert_false(fake_judge(&f)->ok);
    assert_string_equal(f.result.mismatch.output, "out");
    assert_int_equal(f.result.mismatch.count, 40);
    assert_non_null(strstr(f.result.mismatch.got, "(never written)"));
    assert_int_equal(f.result.findings[0].kind, FINDING_output_untouched);
    assert_says("untouched", f.result.diagnosis, "never written");
    fake_release(&f);
}

static void first_mismatch_and_count(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 40);
    fake_answer(&f, 1);
    int32_t *out = fake_payload(&f, 1);
    out[7] += 1;
    out[30] = -1000;
    assert_false(fake_judge(&f)->ok);
    assert_int_equal(f.result.mismatch.index, 7);
    assert_int_equal(f.result.mismatch.count, 2);
    char text[32];
    snprintf(text, sizeof text, "%d", out[7]);
    assert_string_equal(f.result.mismatch.got, text);
    fake_release(&f);
}

/* Whatever is wrong, one of the parts says so, and the others do not. */
static void parts_cover_everything(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 40);
    fake_answer(&f, 1);
    int32_t *out = fake_payload(&f, 1);
    for (unsigned parts = 1; parts < 50; parts += 7)
        for (int wrong = -2; wrong < 42; wrong++) { /* guards too */
            out[wrong] ^= 1;
            unsigned told = 0;
            for (unsigned part = 0; part < parts; part++)
                told += !check_part(&f.data, &f.request, f.outputs, part, parts);
            assert_int_equal(told, 1);
            out[wrong] ^= 1;
        }
    for (unsigned part = 0; part < 5; part++)
        assert_true(check_part(&f.data, &f.request, f.outputs, part, 5));
    fake_release(&f);
}

static void guards_on_both_sides(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 40);
    fake_answer(&f, 1);
    uint8_t *payload = fake_payload(&f, 1);
    payload[-3] ^= 1;
    assert_false(fake_judge(&f)->ok);
    assert_null(f.result.mismatch.output); /* the answer is right, the finding fails it */
    assert_int_equal(f.result.findings[0].kind, FINDING_guard_overwritten);
    assert_non_null(strstr(f.result.findings[0].message, "3 bytes before it"));
    payload[-3] ^= 1;
    memset(payload + 40 * 4 + 8, 0, 4);
    assert_false(fake_judge(&f)->ok);
    assert_non_null(strstr(f.result.findings[0].message, "where element 42 would be"));
    fake_release(&f);
}

static void last_guard_byte_counts(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 33);
    fake_answer(&f, 1);
    uint8_t *payload = fake_payload(&f, 1);
    payload[33 * 4 + WIRE_GUARD_BYTES - 1] ^= 0x80;
    assert_false(fake_judge(&f)->ok);
    assert_int_equal(f.result.finding_count, 1);
    fake_release(&f);
}

static void workspace_guard_counts(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 40);
    fake_answer(&f, 1);
    ((uint8_t *)fake_payload(&f, 2))[0] ^= 1;
    assert_false(fake_judge(&f)->ok);
    assert_non_null(strstr(f.result.findings[0].message, "`workspace`"));
    fake_release(&f);
}

static void changed_input_is_told(void **state)
{
    (void)state;
    struct fake f;
    scan_case(&f, 40);
    fake_answer(&f, 1);
    ((int32_t *)fake_payload(&f, 0))[5] = 12345;
    assert_false(fake_judge(&f)->ok);
    assert_int_equal(f.result.findings[0].kind, FINDING_input_changed);
    assert_non_null(strstr(f.result.findings[0].message, "in[5]"));
    assert_non_null(strstr(f.result.findings[0].message, "12345"));
    fake_release(&f);
}

/* One output of any type, compared in one way: does `got` pass for `expected`? */
static bool passes(enum compare_kind kind, enum wire_type type, const void *expected,
                   const void *got, uint64_t count)
{
    struct fake f;
    fake_init(&f);
    unsigned out = fake_buffer(&f, "out", WIRE_OUTPUT, type, expected, count);
    fake_check(&f, out, kind, -1, -1);
    fake_untouched(&f);
    memcpy(fake_payload(&f, out), got, count * wire_type_bytes(type));
    bool ok = fake_judge(&f)->ok;
    if (!ok && strcmp(f.result.mismatch.expected, f.result.mismatch.got) == 0)
        fail_msg("both print as %s", f.result.mismatch.got);
    fake_release(&f);
    return ok;
}

static void exact_tells_zeros_and_nans_apart(void **state)
{
    (void)state;
    float zero = 0.0f, minus = -0.0f, nan = NAN, one = 1.0f, next = nextafterf(1.0f, 2.0f);
    assert_true(passes(COMPARE_exact, WIRE_float32, &zero, &zero, 1));
    assert_false(passes(COMPARE_exact, WIRE_float32, &zero, &minus, 1));
    assert_false(passes(COMPARE_exact, WIRE_float32, &zero, &nan, 1));
    assert_false(passes(COMPARE_exact, WIRE_float32, &one, &next, 1));
    uint32_t quiet = 0x7fc00000, other = 0x7fc00001;
    assert_false(passes(COMPARE_exact, WIRE_float32, &quiet, &other, 1));
}

static void ulp_counts_neighbours(void **state)
{
    (void)state;
    float one = 1.0f, two_up = 1.0f, three_up = 1.0f, nan = NAN, zero = 0.0f, tiny = -0x1p-149f;
    for (int i = 0; i < 3; i++) {
        two_up = i < 2 ? nextafterf(two_up, 2.0f) : two_up;
        three_up = nextafterf(three_up, 2.0f);
    }
    assert_true(passes(COMPARE_ulp, WIRE_float32, &one, &two_up, 1));
    assert_false(passes(COMPARE_ulp, WIRE_float32, &one, &three_up, 1));
    assert_false(passes(COMPARE_ulp, WIRE_float32, &one, &nan, 1));
    assert_false(passes(COMPARE_ulp, WIRE_float32, &nan, &one, 1));
    assert_true(passes(COMPARE_ulp, WIRE_float32, &zero, &tiny, 1));
    double big = 1e300, minus = -1e300;
    assert_false(passes(COMPARE_ulp, WIRE_float64, &big, &minus, 1));
    uint16_t half_one = 0x3c00, half_next = 0x3c02, half_far = 0x3c03;
    assert_true(passes(COMPARE_ulp, WIRE_float16, &half_one, &half_next, 1));
    assert_false(passes(COMPARE_ulp, WIRE_float16, &half_one, &half_far, 1));
}

static void any_order_compares_multisets(void **state)
{
    (void)state;
    int32_t expected[] = {3, 1, 2, 2}, permuted[] = {2, 3, 2, 1}, twice[] = {1, 3, 3, 2};
    assert_true(passes(COMPARE_any_order, WIRE_int32, expected, permuted, 4));
    assert_false(passes(COMPARE_any_order, WIRE_int32, expected, twice, 4));
}

/* So many that they are not sorted unless they differ. */
static void many_in_any_order(void **state)
{
    (void)state;
    enum { MANY = 70001 };
    static int32_t expected[MANY], got[MANY];
    for (int i = 0; i < MANY; i++) {
        expected[i] = i / 3;
        got[(i * 29ll + 5) % MANY] = i / 3;
    }
    assert_true(passes(COMPARE_any_order, WIRE_int32, expected, got, MANY));
    int32_t held = got[777];
    got[777] = held + 1; /* once too often, and once too few */
    assert_false(passes(COMPARE_any_order, WIRE_int32, expected, got, MANY));
    got[777] = -1;
    assert_false(passes(COMPARE_any_order, WIRE_int32, expected, got, MANY));
}

static void prefixes_in_any_order(void **state)
{
    (void)state;
    static const struct {
        int32_t got[5];
        bool ok;
        const char *says;
    } ROWS[] = {
        {{3, 1, 2, 0, 0}, true, NULL},
        {{1, 2, 3, 0, 0}, true, NULL},
        {{1, 3, 3, 0, 0}, false, NULL},
        {{1, 2, 3, 0, 9}, false, "must be left alone"},
    };
    int32_t expected[] = {1, 2, 3, 0, 0}, count = 3;
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, expected, 5);
        fake_buffer(&f, "count", WIRE_OUTPUT, WIRE_int32, &count, 1);
        fake_check(&f, 0, COMPARE_prefix_any_order, 1, -1);
        fake_check(&f, 1, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        fake_answer(&f, 1);
        int32_t *out = fake_payload(&f, 0);
        for (int i = 0; i < 5; i++)
            if (ROWS[k].got[i])
                out[i] = ROWS[k].got[i];
        assert_int_equal(fake_judge(&f)->ok, ROWS[k].ok);
        if (ROWS[k].says)
            assert_says("beyond", f.result.diagnosis, ROWS[k].says);
        fake_release(&f);
    }
}

static void groups_keep_their_elements(void **state)
{
    (void)state;
    int32_t offsets[] = {0, 2, 2}, expected[] = {5, 6, 7, 8, 9};
    int32_t right[] = {6, 5, 9, 7, 8}, wrong[] = {6, 7, 5, 8, 9};
    for (int k = 0; k < 2; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "offsets", WIRE_INPUT, WIRE_int32, offsets, 3);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, expected, 5);
        fake_check(&f, 1, COMPARE_any_order_within, -1, 0);
        fake_untouched(&f);
        memcpy(fake_payload(&f, 1), k ? wrong : right, sizeof right);
        assert_int_equal(fake_judge(&f)->ok, k == 0);
        fake_release(&f);
    }
}

static void scan_bound_follows_the_size(void **state)
{
    (void)state;
    enum { N = 4096 };
    static float in[N], expected[N], good[N], dropped[N];
    double sum = 0;
    float serial = 0;
    for (int i = 0; i < N; i++) {
        in[i] = (float)sin(i) + 1.5f;
        sum += (double)in[i];
        serial += in[i];
        expected[i] = (float)sum;
        good[i] = serial;
        dropped[i] = i < 4000 ? expected[i] : (float)(sum - (double)in[4000]);
    }
    float *answers[] = {good, dropped, NULL};
    for (int k = 0; k < 3; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_float32, in, N);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_float32, expected, N);
        fake_check(&f, 1, COMPARE_scan_error_bound, -1, -1);
        fake_untouched(&f);
        if (answers[k])
            memcpy(fake_payload(&f, 1), answers[k], sizeof good);
        else
            for (int i = 0; i < N; i++)
                ((float *)fake_payload(&f, 1))[i] = NAN;
        assert_int_equal(fake_judge(&f)->ok, k == 0);
        fake_release(&f);
    }
}

static void sums_of_whole_numbers_are_exact(void **state)
{
    (void)state;
    /* The first three sums stay below 2^24, the others pass it. */
    static const struct {
        float got[5];
        bool ok;
    } ROWS[] = {
        {{1, 3, 8388611, 16777220, 16777224}, true},
        {{1, 3, 8388611, 16777218, 16777222}, true},
        {{1, 3, 8388610, 16777220, 16777224}, false},
        {{1, 2, 8388611, 16777220, 16777224}, false},
    };
    float in[] = {1, 2, 8388608, 8388608, 4}, expected[] = {1, 3, 8388611, 16777220, 16777224};
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_float32, in, 5);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_float32, expected, 5);
        fake_check(&f, 1, COMPARE_scan_error_bound, -1, -1);
        fake_untouched(&f);
        memcpy(fake_payload(&f, 1), ROWS[k].got, sizeof ROWS[k].got);
        assert_int_equal(fake_judge(&f)->ok, ROWS[k].ok);
        fake_release(&f);
    }
}

/* Compaction: 3 of 6 kept. */
static void prefix_leaves_the_rest_alone(void **state)
{
    (void)state;
    float in[] = {1, -1, 2, -2, 3, -3}, expected[] = {1, 2, 3, 0, 0, 0};
    int32_t count = 3;
    struct fake f;
    fake_init(&f);
    fake_buffer(&f, "in", WIRE_INPUT, WIRE_float32, in, 6);
    fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_float32, expected, 6);
    fake_buffer(&f, "count", WIRE_OUTPUT, WIRE_int32, &count, 1);
    fake_check(&f, 1, COMPARE_prefix, 2, -1);
    fake_check(&f, 2, COMPARE_exact, -1, -1);
    fake_untouched(&f);
    float *out = fake_payload(&f, 1);
    memcpy(out, expected, 3 * sizeof *out);
    fake_answer(&f, 2);
    assert_true(fake_judge(&f)->ok);
    out[4] = 0; /* past the count */
    assert_false(fake_judge(&f)->ok);
    assert_int_equal(f.result.mismatch.index, 4);
    assert_string_equal(f.result.mismatch.expected, "untouched");
    assert_says("beyond", f.result.diagnosis, "must be left alone");
    /* A wrong count is told before the element that moved because of it. */
    *(int32_t *)fake_payload(&f, 2) = 2;
    assert_false(fake_judge(&f)->ok);
    assert_string_equal(f.result.mismatch.output, "count");
    fake_release(&f);
}

static void a_count_from_nowhere_is_harmless(void **state)
{
    (void)state;
    int32_t data[] = {1, 2}, count = -5;
    struct fake f;
    fake_init(&f);
    fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, data, 2);
    fake_buffer(&f, "count", WIRE_OUTPUT, WIRE_int32, &count, 1);
    fake_check(&f, 0, COMPARE_prefix, 1, -1);
    fake_check(&f, 1, COMPARE_exact, -1, -1);
    fake_untouched(&f);
    *(int32_t *)fake_payload(&f, 1) = INT32_MAX;
    assert_false(fake_judge(&f)->ok);
    assert_string_equal(f.result.mismatch.output, "count");
    fake_release(&f);
}

static void same_outputs_ignores_what_is_not_compared(void **state)
{
    (void)state;
    int32_t expected[] = {1, 2, 0}, count = 2;
    struct fake f;
    fake_init(&f);
    fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, expected, 3);
    fake_buffer(&f, "count", WIRE_OUTPUT, WIRE_int32, &count, 1);
    fake_check(&f, 0, COMPARE_prefix, 1, -1);
    fake_check(&f, 1, COMPARE_exact, -1, -1);
    fake_untouched(&f);
    uint8_t *other = malloc(f.request.out_bytes);
    memcpy(other, f.outputs, f.request.out_bytes);
    int32_t *out = fake_payload(&f, 0);
    out[2] ^= 1;
    assert_true(check_same_outputs(&f.data, &f.request, f.outputs, other));
    out[1] ^= 1;
    assert_false(check_same_outputs(&f.data, &f.request, f.outputs, other));
    free(other);
    fake_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_answer_passes),
        cmocka_unit_test(empty_case_passes_untouched),
        cmocka_unit_test(untouched_output_is_told),
        cmocka_unit_test(first_mismatch_and_count),
        cmocka_unit_test(parts_cover_everything),
        cmocka_unit_test(guards_on_both_sides),
        cmocka_unit_test(last_guard_byte_counts),
        cmocka_unit_test(workspace_guard_counts),
        cmocka_unit_test(changed_input_is_told),
        cmocka_unit_test(exact_tells_zeros_and_nans_apart),
        cmocka_unit_test(ulp_counts_neighbours),
        cmocka_unit_test(any_order_compares_multisets),
        cmocka_unit_test(many_in_any_order),
        cmocka_unit_test(prefixes_in_any_order),
        cmocka_unit_test(groups_keep_their_elements),
        cmocka_unit_test(scan_bound_follows_the_size),
        cmocka_unit_test(sums_of_whole_numbers_are_exact),
        cmocka_unit_test(prefix_leaves_the_rest_alone),
        cmocka_unit_test(a_count_from_nowhere_is_harmless),
        cmocka_unit_test(same_outputs_ignores_what_is_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
