/* Prefix sums, by the plainest loop. Sums are taken in uint64 and cut to the element's size at the
 * end, which is what wrapping in the element's own size comes to. */
#include "judge/problem/oracle.h"

#include <stdbool.h>

void oracle_exclusive_scan(const struct oracle_operand *o)
{
    oracle_fill_exclusive_scan(o, 0, o[0].count, 0);
}

uint64_t oracle_sum_exclusive_scan(const struct oracle_operand *o, uint64_t from, uint64_t to)
{
    const uint32_t *values = o[0].in;
    uint64_t end = oracle_part_end(&o[0], &o[1], to), sum = 0;
    if (o[0].type == WIRE_int32)
        for (uint64_t i = from; i < end; i++)
            sum += values[i];
    else
        for (uint64_t i = from; i < end; i++)
            sum += (uint64_t)oracle_int(&o[0], i);
    return sum;
}

void oracle_fill_exclusive_scan(const struct oracle_operand *o, uint64_t from, uint64_t to,
                                uint64_t sum)
{
    const struct oracle_operand *in = &o[0], *out = &o[1];
    uint64_t end = oracle_part_end(in, out, to);
    if (in->type == WIRE_int32) { /* the common one; a hundred million elements of it are timed */
        const uint32_t *values = in->in;
        uint32_t *sums = out->out;
        for (uint64_t i = from; i < end; i++) {
            sums[i] = (uint32_t)sum;
            sum += values[i];
        }
        return;
    }
    for (uint64_t i = from; i < end; i++) {
        oracle_put_int(out, i, (int64_t)sum);
        sum += (uint64_t)oracle_int(in, i);
    }
}

/* Every `length` elements on their own. */
static void scan_rows(const struct oracle_operand *in, const struct oracle_operand *out,
                      uint64_t length, bool inclusive)
{
    uint64_t n = oracle_common(in, out), sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t item = (uint64_t)oracle_int(in, i);
        if (length && i % length == 0)
            sum = 0;
        oracle_put_int(out, i, (int64_t)(inclusive ? sum + item : sum));
        sum += item;
    }
}

void oracle_inclusive_scan(const struct oracle_operand *o)
{
    scan_rows(&o[0], &o[1], 0, true);
}

void oracle_exclusive_scan_rows(const struct oracle_operand *o)
{
    scan_rows(&o[0], &o[1], o[2].value > 0 ? (uint64_t)o[2].value : 0, false);
}

void oracle_inclusive_scan_rows(const struct oracle_operand *o)
{
    scan_rows(&o[0], &o[1], o[2].value > 0 ? (uint64_t)o[2].value : 0, true);
}

void oracle_inclusive_scan_32(const struct oracle_operand *o)
{
    scan_rows(&o[0], &o[1], 32, true);
}

void oracle_inclusive_scan_4096(const struct oracle_operand *o)
{
    scan_rows(&o[0], &o[1], 4096, true);
}

void oracle_exclusive_scan_1024(const struct oracle_operand *o)
{
    enum { TILE = 1024 };
    const struct oracle_operand *in = &o[0], *totals = &o[2];
    scan_rows(in, &o[1], TILE, false);
    for (uint64_t t = 0; t < totals->count; t++) {
        uint64_t sum = 0;
        for (uint64_t i = t * TILE; i < in->count && i < (t + 1) * TILE; i++)
            sum += (uint64_t)oracle_int(in, i);
        oracle_put_int(totals, t, (int64_t)sum);
    }
}
