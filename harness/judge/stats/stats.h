/* stats: samples -> numbers. Pure: no clock, no input, the same seed gives the same interval.
 *
 * Times on a GPU have a sharp left edge and a long right tail, so everything here rests on medians.
 * An interval of a ratio is a percentile bootstrap (Efron and Tibshirani, An Introduction to the
 * Bootstrap, ch. 13 and 14): rounds are drawn with replacement and both series of a round stay
 * together, so that what slowed a whole round down (clocks, a neighbour) cancels. */
#ifndef JUDGE_STATS_STATS_H
#define JUDGE_STATS_STATS_H

#include <stdint.h>

struct stats_interval {
    double value, low, high;
};

/* The median of `count` >= 1 values, in whatever order; of an even number the mean of the middle
 * two. */
double stats_median(const double *values, unsigned count);

/* The smallest value that a share `q` (0..1) of the values does not exceed. */
double stats_quantile(const double *values, unsigned count, double q);

/* Median of |x - median|: how far a typical sample is away. */
double stats_deviation(const double *values, unsigned count);

/* median(a) / median(b), and the interval that holds it with probability `level` (0.95). a[i] and
 * b[i] are from one round. With fewer than STATS_ROUNDS_MIN rounds low and high are 0 and infinity:
 * nothing is known. */
enum { STATS_ROUNDS_MIN = 6 };
struct stats_interval stats_ratio(const double *a, const double *b, unsigned count, double level,
                                  uint64_t seed);

/* The interval when the value also varies from one measurement to the next by `relative_sd`, which
 * no sample within one measurement shows. */
struct stats_interval stats_widened(struct stats_interval i, double relative_sd, double level);

/* (high - low) / value; infinity where nothing is known. */
double stats_width(const struct stats_interval *i);

#endif
