/* stats: on made-up samples whose truth is known. The intervals must hold it as often as they say.
 */
#include "base/rng.h"
#include "judge/stats/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_medians(void **state)
{
    (void)state;
    static const struct {
        double values[8];
        unsigned count;
        double median, deviation;
    } CASES[] = {
        {{3}, 1, 3, 0},
        {{3, 1}, 2, 2, 1},
        {{9, 1, 5}, 3, 5, 4},
        {{4, 4, 4, 4}, 4, 4, 0},
        {{1, 2, 3, 1000}, 4, 2.5, 1},
        {{8, 7, 6, 5, 4, 3, 2, 1}, 8, 4.5, 2},
        {{2, 2, 1, 1, 1, 3, 3, 3}, 8, 2, 1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_float_equal(stats_median(CASES[i].values, CASES[i].count), CASES[i].median, 0);
        assert_float_equal(stats_deviation(CASES[i].values, CASES[i].count), CASES[i].deviation, 0);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Selection against sorting, with many ties and every length. */
static void test_median_is_that_of_a_sorted_copy(void **state)
{
    (void)state;
    double v[64], sorted[64];
    for (unsigned trial = 0; trial < 4000; trial++) {
        unsigned count = 1 + (unsigned)rng_below(1, trial, 64);
        for (unsigned i = 0; i < count; i++)
            v[i] = sorted[i] = (double)rng_below(2 + trial, i, 1 + trial % 40);
        qsort(sorted, count, sizeof sorted[0], compare);
        double middle = (sorted[count / 2] + sorted[(count - 1) / 2]) / 2;
        assert_float_equal(stats_median(v, count), middle, 0);
    }
}

static void test_quantiles(void **state)
{
    (void)state;
    static const double V[] = {5, 1, 4, 2, 3, 9, 8, 7};
    static const double Q[][2] = {{0, 1}, {0.01, 1}, {0.125, 1}, {0.13, 2}, {0.5, 4}, {1, 9}};
    for (size_t i = 0; i < sizeof Q / sizeof Q[0]; i++)
        assert_float_equal(stats_quantile(V, 8, Q[i][0]), Q[i][1], 0);
}

/* ---- made-up times of one round: a and b, each with the median that is asked for ---- */

static double normal(uint64_t key, uint64_t at)
{
    double u = rng_unit(key, 2 * at), v = rng_unit(key, 2 * at + 1);
    return sqrt(-2 * log(1 - u)) * cos(2 * acos(-1) * v);
}

typedef double noise_function(uint64_t key, uint64_t at);

static double noise_normal(uint64_t key, uint64_t at)
{
    return 1 + 0.01 * normal(key, at);
}

/* A sharp left edge and a long tail, median 1. */
static double noise_tail(uint64_t key, uint64_t at)
{
    return 0.99 + 0.01 * exp(normal(key, at));
}

/* One call in eight is twice as slow. */
static double noise_outliers(uint64_t key, uint64_t at)
{
    double slow = rng_unit(key + 1, at) < 0.125 ? 2 : 1;
    return slow * (1 + 0.005 * normal(key, at));
}

/* Two clocks of the card; 60% at the first. */
static double noise_two_clocks(uint64_t key, uint64_t at)
{
    double slow = rng_unit(key + 1, at) < 0.6 ? 1 : 1.03;
    return slow * (1 + 0.004 * normal(key, at));
}

/* An event timer with steps of 1/16 of the time. */
static double noise_steps(uint64_t key, uint64_t at)
{
    return round((1 + 0.06 * normal(key, at)) * 16) / 16;
}

static const struct {
    const char *name;
    noise_function *noise;
} NOISES[] = {
    {"normal", noise_normal},         {"tail", noise_tail},   {"outliers", noise_outliers},
    {"two clocks", noise_two_clocks}, {"steps", noise_steps},
};
enum { NOISE_COUNT = sizeof NOISES / sizeof NOISES[0] };

/* How many of TRIALS intervals hold the truth, for rounds that also drift together. Both series
 * have the same noise, so that the ratio of their medians is `ratio`. */
enum { TRIALS = 400 };
static unsigned covered(noise_function *noise, unsigned rounds, double ratio)
{
    double a[64], b[64];
    unsigned hits = 0;
    for (unsigned t = 0; t < TRIALS; t++) {
        for (unsigned r = 0; r < rounds; r++) {
            double drift = 1 + 0.002 * (double)r / rounds;
            b[r] = 0.05 * drift * noise(10 + 4 * t, r);
            a[r] = 0.05 * ratio * drift * noise(12 + 4 * t, r);
        }
        struct stats_interval i = stats_ratio(a, b, rounds, 0.95, 7 + t);
        hits += i.low <= ratio * (1 + 1e-9) && ratio * (1 - 1e-9) <= i.high;
    }
    return hits;
}

static void test_intervals_hold_the_truth(void **state)
{
    (void)state;
    static const unsigned ROUNDS[] = {10, 21, 40};
    for (unsigned n = 0; n < NOISE_COUNT; n++)
        for (unsigned k = 0; k < 3; k++) {
            unsigned hits = covered(NOISES[n].noise, ROUNDS[k], k == 1 ? 4.2 : 1);
            /* 95% is promised; 400 trials of exactly that give 365 or fewer once in 300 runs. */
            if (hits < 365)
                fail_msg("%s, %u rounds: %u of %u intervals hold the ratio", NOISES[n].name,
                         ROUNDS[k], hits, TRIALS);
        }
}

static void test_a_difference_is_seen(void **state)
{
    (void)state;
    double a[20], b[20];
    for (unsigned r = 0; r < 20; r++) {
        b[r] = noise_normal(1, r);
        a[r] = 1.05 * noise_normal(2, r);
    }
    struct stats_interval i = stats_ratio(a, b, 20, 0.95, 1);
    assert_true(i.low > 1 && i.low <= i.value && i.value <= i.high && i.high < 1.1);
    assert_true(stats_width(&i) > 0 && stats_width(&i) < 0.05);
}

static void test_more_rounds_narrow_it(void **state)
{
    (void)state;
    double a[160], b[160];
    for (unsigned r = 0; r < 160; r++) {
        a[r] = noise_tail(3, r);
        b[r] = noise_tail(4, r);
    }
    struct stats_interval few = stats_ratio(a, b, 10, 0.95, 1),
                          many = stats_ratio(a, b, 160, 0.95, 1);
    assert_true(stats_width(&many) < stats_width(&few) / 2);
}

static void test_little_is_nothing(void **state)
{
    (void)state;
    double a[] = {2, 2, 2, 2, 2, 2}, b[] = {1, 1, 1, 1, 1, 1};
    struct stats_interval i = stats_ratio(a, b, STATS_ROUNDS_MIN - 1, 0.95, 1);
    assert_float_equal(i.value, 2, 0);
    assert_true(i.low == 0 && isinf(i.high) && isinf(stats_width(&i)));
    i = stats_ratio(a, b, STATS_ROUNDS_MIN, 0.95, 1);
    assert_true(i.low == 2 && i.high == 2 && stats_width(&i) == 0);
}

static void test_what_one_measurement_does_not_show(void **state)
{
    (void)state;
    struct stats_interval i = stats_widened((struct stats_interval){2, 1.97, 2.04}, 0, 0.95);
    assert_true(fabs(i.low - 1.97) < 1e-9 && fabs(i.high - 2.04) < 1e-9);
    i = stats_widened((struct stats_interval){2, 2, 2}, 0.01, 0.95);
    assert_true(fabs(i.low - (2 - 2 * 0.0195996)) < 1e-5 &&
                fabs(i.high - (2 + 2 * 0.0195996)) < 1e-5);
    i = stats_widened((struct stats_interval){2, 1.97, 2.04}, 0.01, 0.95);
    assert_true(fabs(i.high - (2 + hypot(0.04, 0.0391993))) < 1e-5);
    i = stats_widened((struct stats_interval){2, 0, INFINITY}, 0.01, 0.95);
    assert_true(i.low == 0 && isinf(i.high));
}

static void test_a_seed_gives_one_interval(void **state)
{
    (void)state;
    double a[30], b[30];
    for (unsigned r = 0; r < 30; r++) {
        a[r] = noise_normal(5, r);
        b[r] = noise_normal(6, r);
    }
    struct stats_interval i = stats_ratio(a, b, 30, 0.95, 8), j = stats_ratio(a, b, 30, 0.95, 8),
                          k = stats_ratio(a, b, 30, 0.95, 9);
    assert_true(i.low == j.low && i.high == j.high);
    assert_true(i.low != k.low || i.high != k.high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_medians),
        cmocka_unit_test(test_median_is_that_of_a_sorted_copy),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_intervals_hold_the_truth),
        cmocka_unit_test(test_a_difference_is_seen),
        cmocka_unit_test(test_more_rounds_narrow_it),
        cmocka_unit_test(test_little_is_nothing),
        cmocka_unit_test(test_what_one_measurement_does_not_show),
        cmocka_unit_test(test_a_seed_gives_one_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
