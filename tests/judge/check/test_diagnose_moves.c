/* Diagnoses of other operators than a sum, and of elements that were to be moved: maxima, maps,
 * segments, rounding, multisets, reversed sides, runs. Each with a look-alike where there is one.
 */
#include "fake.h"

static void maxima_begin_at_the_smallest(void **state)
{
    (void)state;
    int32_t in[] = {-9, -4, -6, 3, 8}, right[] = {INT32_MIN, -9, -4, -4, 3};
    struct fake f;
    fake_init(&f);
    fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, 5);
    fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, 5);
    fake_check(&f, 1, COMPARE_exact, -1, -1);
    fake_untouched(&f);
    int32_t *got = fake_payload(&f, 1);
    memcpy(got, (int32_t[]){0, 0, 0, 0, 3}, sizeof right);
    assert_false(fake_judge(&f)->ok);
    assert_says("begins with 0", f.result.diagnosis, "identity of a maximum");
    got[2] = -5;
    assert_false(fake_judge(&f)->ok);
    assert_true(!f.result.diagnosis || !strstr(f.result.diagnosis, "maximum"));
    fake_release(&f);
}

static void maps_in_the_wrong_order(void **state)
{
    (void)state;
    enum { N = 9 };
    uint32_t scale[N], shift[N], products[N], right[N], swapped[N];
    for (unsigned i = 0; i < N; i++) {
        scale[i] = 2 * i + 3;
        shift[i] = i * i + 1;
        products[i] = i ? products[i - 1] * scale[i - 1] : 1;
        right[i] = i ? right[i - 1] * scale[i - 1] + shift[i - 1] : 0;
        swapped[i] = i ? products[i - 1] * shift[i - 1] + swapped[i - 1] : 0;
    }
    for (int k = 0; k < 2; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "scale", WIRE_INPUT, WIRE_uint32, scale, N);
        fake_buffer(&f, "shift", WIRE_INPUT, WIRE_uint32, shift, N);
        fake_buffer(&f, "products", WIRE_OUTPUT, WIRE_uint32, products, N);
        fake_buffer(&f, "sums", WIRE_OUTPUT, WIRE_uint32, right, N);
        fake_check(&f, 2, COMPARE_exact, -1, -1);
        fake_check(&f, 3, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        fake_answer(&f, 2);
        memcpy(fake_payload(&f, 3), swapped, sizeof swapped);
        if (k == 1) /* then the operands are not what is wrong */
            ((uint32_t *)fake_payload(&f, 2))[4] ^= 1;
        assert_false(fake_judge(&f)->ok);
        if (k == 0)
            assert_says("swapped", f.result.diagnosis, "the later one probably stands on the left");
        else
            assert_true(!f.result.diagnosis || !strstr(f.result.diagnosis, "operands"));
        fake_release(&f);
    }
}

static void segments(void **state)
{
    (void)state;
    enum { N = 9 };
    static const uint8_t heads[N] = {0, 0, 4, 0, 0, 1, 0, 0, 2};
    static const int32_t in[N] = {3, 1, 7, 2, 4, 1, 6, 3, 5};
    static const int32_t right[N] = {3, 4, 7, 9, 13, 1, 7, 10, 5};
    static const struct {
        int32_t got[N];
        const char *says;
    } ROWS[] = {
        {{3, 4, 11, 13, 17, 18, 24, 27, 32}, "none of the 3 heads"},
        {{3, 4, 11, 13, 17, 1, 7, 10, 15}, "2 of 3 heads in `heads` start no segment"},
        {{3, 4, 7, 9, 4, 1, 7, 10, 5}, "starts again at index 4"},
        {{3, 4, 7, 9, 13, 1, 7, 11, 5}, NULL},
    };
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, N);
        fake_buffer(&f, "heads", WIRE_INPUT, WIRE_uint8, heads, N);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, N);
        fake_check(&f, 2, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        memcpy(fake_payload(&f, 2), ROWS[k].got, sizeof right);
        assert_false(fake_judge(&f)->ok);
        if (ROWS[k].says)
            assert_says("segments", f.result.diagnosis, ROWS[k].says);
        else
            assert_true(!f.result.diagnosis || !strstr(f.result.diagnosis, "head"));
        fake_release(&f);
    }
}

static void sums_that_round_too_much(void **state)
{
    (void)state;
    enum { N = 500 };
    static float in[N], right[N];
    double sum = 0;
    for (int i = 0; i < N; i++) {
        in[i] = 0.1f + (float)(i % 7) / 16;
        sum += (double)in[i];
        right[i] = (float)sum;
    }
    for (int k = 0; k < 2; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_float32, in, N);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_float32, right, N);
        fake_check(&f, 1, COMPARE_scan_error_bound, -1, -1);
        fake_untouched(&f);
        float *got = fake_payload(&f, 1);
        for (int i = 0; i < N; i++)
            got[i] = right[i] * (1 + (float)(i % 3) / 4096);
        if (k == 1)
            got[17] = 0;
        assert_false(fake_judge(&f)->ok);
        if (k == 0)
            assert_says("rounding", f.result.diagnosis, "probably rounding");
        else
            assert_true(!f.result.diagnosis || !strstr(f.result.diagnosis, "rounding"));
        fake_release(&f);
    }
}

static void elements_in_any_order(void **state)
{
    (void)state;
    static const struct {
        int32_t got[6];
        const char *says;
    } ROWS[] = {
        {{5, 1, 4, 4, 2, 4}, "1 elements of `out` are missing, and as many are repeated"},
        {{5, 1, 4, 0, 2, 0}, "2 elements of `out` are missing; in their places stand 2 values"},
    };
    static const int32_t right[] = {1, 2, 3, 4, 4, 5};
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, 6);
        fake_check(&f, 0, COMPARE_any_order, -1, -1);
        fake_untouched(&f);
        memcpy(fake_payload(&f, 0), ROWS[k].got, sizeof right);
        assert_false(fake_judge(&f)->ok);
        assert_says("any order", f.result.diagnosis, ROWS[k].says);
        fake_release(&f);
    }
}

static void a_side_in_reverse(void **state)
{
    (void)state;
    static const int32_t right[] = {1, 2, 3, 9, 8, 7, 6, 5}, got[] = {1, 2, 3, 5, 6, 7, 8, 9};
    struct fake f;
    fake_init(&f);
    fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_int32, right, 8);
    fake_check(&f, 0, COMPARE_exact, -1, -1);
    fake_untouched(&f);
    memcpy(fake_payload(&f, 0), got, sizeof got);
    assert_false(fake_judge(&f)->ok);
    assert_says("reversed", f.result.diagnosis, "from index 3 to 7, in reverse order");
    fake_release(&f);
}

static void equal_keys_change_places(void **state)
{
    (void)state;
    static const int32_t keys[] = {1, 4, 4, 4, 9, 9}, right[] = {7, 2, 3, 5, 0, 1};
    static const struct {
        int32_t got[6];
        bool stable_is_said;
    } ROWS[] = {{{7, 3, 5, 2, 1, 0}, true}, {{7, 2, 3, 1, 0, 5}, false}};
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "keys", WIRE_OUTPUT, WIRE_int32, keys, 6);
        fake_buffer(&f, "values", WIRE_OUTPUT, WIRE_int32, right, 6);
        fake_check(&f, 0, COMPARE_exact, -1, -1);
        fake_check(&f, 1, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        fake_answer(&f, 0);
        memcpy(fake_payload(&f, 1), ROWS[k].got, sizeof right);
        assert_false(fake_judge(&f)->ok);
        assert_non_null(f.result.diagnosis);
        assert_true(!strstr(f.result.diagnosis, "not stable") == !ROWS[k].stable_is_said);
        fake_release(&f);
    }
}

static void runs_over_the_end_of_a_tile(void **state)
{
    (void)state;
    enum { N = 200 };
    static int32_t in[N];
    int32_t runs = 1;
    for (int i = 0; i < N; i++) {
        in[i] = i / 23;
        runs += i > 0 && in[i] != in[i - 1];
    }
    for (int k = 0; k < 2; k++) {
        struct fake f;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_int32, in, N);
        fake_buffer(&f, "count", WIRE_OUTPUT, WIRE_int32, &runs, 1);
        fake_check(&f, 1, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        *(int32_t *)fake_payload(&f, 1) = runs + (k == 0 ? 3 : 2); /* 64, 128 and 192 */
        assert_false(fake_judge(&f)->ok);
        if (k == 0)
            assert_says("cut", f.result.diagnosis, "if every tile of 64 began one");
        else
            assert_true(!f.result.diagnosis || !strstr(f.result.diagnosis, "tile"));
        fake_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maxima_begin_at_the_smallest),
        cmocka_unit_test(maps_in_the_wrong_order),
        cmocka_unit_test(segments),
        cmocka_unit_test(sums_that_round_too_much),
        cmocka_unit_test(elements_in_any_order),
        cmocka_unit_test(a_side_in_reverse),
        cmocka_unit_test(equal_keys_change_places),
        cmocka_unit_test(runs_over_the_end_of_a_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
