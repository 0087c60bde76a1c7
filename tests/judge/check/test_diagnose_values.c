/* Diagnoses that look at single values: elements of one kind that a compaction drops or keeps,
 * counts that lost multiples of what a narrow counter holds. */
#include "fake.h"

#include <math.h>

/* Elements of one kind that are dropped or kept against the rule, and single ones without a rule.
 */
static void wrong_choices(void **state)
{
    (void)state;
    static const float in[] = {3, -1, INFINITY, 2, 1e-40f, NAN, 0, 7, INFINITY, 4, 5e-41f, 6};
    static const float right[] = {3, INFINITY, 2, 1e-40f, 7, INFINITY, 4, 5e-41f, 6};
    static const struct {
        float got[12];
        int32_t count;
        const char *says;
    } ROWS[] = {
        {{3, 2, 1e-40f, 7, 4, 5e-41f, 6},
         7,
         "every infinity that belongs into `out` is missing (2"},
        {{3, INFINITY, 2, 7, INFINITY, 4, 6}, 7, "every subnormal number that belongs into `out`"},
        {{3, INFINITY, 2, 1e-40f, NAN, 7, INFINITY, 4, 5e-41f, 6},
         10,
         "also holds NaNs (1 in all)"},
        {{3, INFINITY, 2, 1e-40f, 0, 7, INFINITY, 4, 5e-41f, 6}, 10, "also holds zeros (1 in all)"},
        {{-1, 3, INFINITY, 2, 1e-40f, 7, INFINITY, 4, 5e-41f, 6},
         10,
         "also holds negative numbers"},
        {{3, INFINITY, 2, 1e-40f, INFINITY, 4, 5e-41f, 6},
         8,
         "1 element is missing from `out`, and everything else is right and in order: the first is "
         "the one that belongs at index 4, 7"},
        /* not every one of its kind; the last one alone; too much else is wrong */
        {{3, 2, 1e-40f, 7, INFINITY, 4, 5e-41f, 6}, 8, "belongs at index 1, inf"},
        {{3, INFINITY, 2, 1e-40f, 7, INFINITY, 4, 5e-41f}, 8, "the count is one short"},
        {{2, 3, 1e-40f, 4, 7, 6, 5e-41f}, 7, "the count is short by 2"},
    };
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        struct fake f;
        int32_t count = 9;
        fake_init(&f);
        fake_buffer(&f, "in", WIRE_INPUT, WIRE_float32, in, 12);
        float answer[12] = {0};
        memcpy(answer, right, sizeof right);
        fake_buffer(&f, "out", WIRE_OUTPUT, WIRE_float32, answer, 12);
        fake_buffer(&f, "count", WIRE_OUTPUT, WIRE_int32, &count, 1);
        fake_check(&f, 1, COMPARE_prefix, 2, -1);
        fake_check(&f, 2, COMPARE_exact, -1, -1);
        fake_untouched(&f);
        memcpy(fake_payload(&f, 1), ROWS[k].got, (size_t)ROWS[k].count * sizeof in[0]);
        memcpy(fake_payload(&f, 2), &ROWS[k].count, sizeof count);
        assert_false(fake_judge(&f)->ok);
        assert_says("choice", f.result.diagnosis, ROWS[k].says);
        fake_release(&f);
    }
}

/* Each of several blocks counts in 16 bits: what is lost comes in pieces of 2^16. */
static void counters_of_blocks_overflow(void **state)
{
    (void)state;
    enum { N = 600000, BINS = 4 };
    static int32_t ids[N];
    int32_t right[BINS] = {0};
    for (unsigned i = 0; i < N; i++)
        right[ids[i] = i % 7 == 0 ? 2 : 1]++;
    struct fake f;
    fake_init(&f);
    fake_buffer(&f, "ids", WIRE_INPUT, WIRE_int32, ids, N);
    fake_buffer(&f, "counts", WIRE_OUTPUT, WIRE_int32, right, BINS);
    fake_check(&f, 1, COMPARE_exact, -1, -1);
    fake_untouched(&f);
    fake_answer(&f, 1);
    int32_t *counts = fake_payload(&f, 1);
    counts[1] -= 3 * 65536;
    fake_judge(&f);
    assert_says("16 bits", f.result.diagnosis, "a multiple of 2^16 (196608 of 600000");
    counts[1] -= 1;
    fake_judge(&f);
    assert_true(!f.result.diagnosis || !strstr(f.result.diagnosis, "2^16"));
    fake_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_choices),
        cmocka_unit_test(counters_of_blocks_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
