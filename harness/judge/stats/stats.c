/* Medians of resampled rounds. The k-th smallest is found by selection, not by sorting: an interval
 * takes RESAMPLES times two medians and is asked for while a card waits. */
#include "judge/stats/stats.h"

#include "base/err.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 1000 };

static double *allocate(unsigned count)
{
    double *values = calloc(count ? count : 1, sizeof *values);
    if (!values)
        BUG("no memory for %u samples", count);
    return values;
}

static void swap(double *a, double *b)
{
    double held = *a;
    *a = *b;
    *b = held;
}

/* Selection by partitioning (Hoare's Find, as Wirth writes it): afterwards v[k] is the k-th
 * smallest, nothing before it is larger and nothing behind it smaller. */
static double select_smallest(double *v, unsigned count, unsigned k)
{
    int low = 0, high = (int)count - 1, wanted = (int)k;
    while (low < high) {
        double pivot = v[wanted];
        int i = low, j = high;
        do {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i <= j)
                swap(&v[i++], &v[j--]);
        } while (i <= j);
        if (j < wanted)
            low = i;
        if (wanted < i)
            high = j;
    }
    return v[k];
}

/* Reorders `v`. */
static double median_in_place(double *v, unsigned count)
{
    if (count == 0)
        BUG("the median of nothing");
    double upper = select_smallest(v, count, count / 2);
    if (count % 2)
        return upper;
    double lower = -INFINITY; /* the largest of the lower half */
    for (unsigned i = 0; i < count / 2; i++)
        lower = v[i] > lower ? v[i] : lower;
    return lower + (upper - lower) / 2;
}

double stats_median(const double *values, unsigned count)
{
    double *copy = allocate(count);
    memcpy(copy, values, count * sizeof *copy);
    double median = median_in_place(copy, count);
    free(copy);
    return median;
}

double stats_quantile(const double *values, unsigned count, double q)
{
    if (count == 0)
        BUG("a quantile of nothing");
    double *copy = allocate(count), rank = ceil(q * count);
    memcpy(copy, values, count * sizeof *copy);
    double value = select_smallest(copy, count, rank < 1 ? 0 : (unsigned)rank - 1);
    free(copy);
    return value;
}

double stats_deviation(const double *values, unsigned count)
{
    double median = stats_median(values, count), *away = allocate(count);
    for (unsigned i = 0; i < count; i++)
        away[i] = fabs(values[i] - median);
    double deviation = median_in_place(away, count);
    free(away);
    return deviation;
}

struct stats_interval stats_ratio(const double *a, const double *b, unsigned count, double level,
                                  uint64_t seed)
{
    struct stats_interval i = {stats_median(a, count) / stats_median(b, count), 0, INFINITY};
    if (count < STATS_ROUNDS_MIN)
        return i;
    double *ratios = allocate(RESAMPLES), *drawn_a = allocate(count), *drawn_b = allocate(count);
    uint64_t key = rng_key(seed, 0x626f6f74), drawn = 0;
    for (unsigned k = 0; k < RESAMPLES; k++) {
        for (unsigned r = 0; r < count; r++) {
            uint64_t round = rng_below(key, drawn++, count);
            drawn_a[r] = a[round];
            drawn_b[r] = b[round];
        }
        ratios[k] = median_in_place(drawn_a, count) / median_in_place(drawn_b, count);
    }
    unsigned outside = (unsigned)((1 - level) / 2 * RESAMPLES);
    i.low = select_smallest(ratios, RESAMPLES, outside);
    i.high = select_smallest(ratios, RESAMPLES, RESAMPLES - 1 - outside);
    free(ratios);
    free(drawn_a);
    free(drawn_b);
    return i;
}

/* Where the normal distribution leaves (1 - level) / 2 above: Newton's method on erf(). */
static double normal_quantile(double level)
{
    double x = 1;
    for (int i = 0; i < 40; i++)
        x += (level - erf(x / sqrt(2))) / (sqrt(2 / acos(-1)) * exp(-x * x / 2));
    return x;
}

struct stats_interval stats_widened(struct stats_interval i, double relative_sd, double level)
{
    double more = normal_quantile(level) * relative_sd * i.value;
    if (!isfinite(i.high))
        return i;
    return (struct stats_interval){i.value, i.value - hypot(i.value - i.low, more),
                                   i.value + hypot(i.high - i.value, more)};
}

double stats_width(const struct stats_interval *i)
{
    return i->value > 0 && isfinite(i->high) ? (i->high - i->low) / i->value : INFINITY;
}
