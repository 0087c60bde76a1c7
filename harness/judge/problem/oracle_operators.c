/* Scans with other operators than a sum of integers: maxima, maps in order, sums that start anew at
 * every segment, sums of floats. */
#include "judge/problem/oracle.h"

void oracle_generic_scan(const struct oracle_operand *o)
{
    const int32_t *values = o[0].in;
    const uint32_t *scale = o[2].in, *shift = o[3].in;
    int32_t *max_before = o[1].out, largest = INT32_MIN;
    uint64_t n = oracle_common(&o[0], &o[1]);
    for (uint64_t i = 0; i < n; i++) {
        int32_t value = values[i];
        max_before[i] = largest;
        largest = value > largest ? value : largest;
    }
    uint32_t *composed_scale = o[4].out, *composed_shift = o[5].out;
    uint64_t in = oracle_common(&o[2], &o[3]), out = oracle_common(&o[4], &o[5]);
    uint32_t a = 1, b = 0; /* x becomes a x + b */
    for (uint64_t i = 0; i < in && i < out; i++) {
        composed_scale[i] = a;
        composed_shift[i] = b;
        a = scale[i] * a;
        b = scale[i] * b + shift[i];
    }
}

void oracle_segmented_scan(const struct oracle_operand *o)
{
    uint64_t n = oracle_common(&o[0], &o[2]), sum = 0; /* unsigned: sums wrap */
    for (uint64_t i = 0; i < n; i++) {
        if (i < o[1].count && oracle_int(&o[1], i) != 0)
            sum = 0;
        sum += (uint64_t)oracle_int(&o[0], i);
        oracle_put_int(&o[2], i, (int64_t)sum);
    }
}

void oracle_float_scan(const struct oracle_operand *o)
{
    uint64_t n = oracle_common(&o[0], &o[1]);
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        sum += oracle_real(&o[0], i);
        oracle_put_real(&o[1], i, sum);
    }
}
