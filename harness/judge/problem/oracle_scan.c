/* Prefix sums, by the plainest loop. Sums are taken in uint64 and cut to the element's size at the
 * end, which is what wrapping in the element's own size comes to. */
#include "judge/problem/oracle.h"

#include <stdbool.h>

static uint64_t sum_of(const struct oracle_operand *in, uint64_t from, uint64_t to)
{
    const int32_t *values = in->in;
    uint64_t sum = 0;
    if (in->type == WIRE_int32)
        for (uint64_t i = from; i < to; i++)
            sum += (uint64_t)(int64_t)values[i];
    else
        for (uint64_t i = from; i < to; i++)
            sum += (uint64_t)oracle_int(in, i);
    return sum;
}

/* One stretch that begins with `sum`. */
static void scan_stretch(const struct oracle_operand *in, const struct oracle_operand *out,
                         uint64_t from, uint64_t to, uint64_t sum, bool inclusive)
{
    if (in->type == WIRE_int32 && out->type == WIRE_int32) { /* hundreds of millions are timed */
        const uint32_t *values = in->in;
        uint32_t *sums = out->out;
        for (uint64_t i = from; i < to; i++) {
            uint64_t before = sum;
            sum += values[i];
            sums[i] = (uint32_t)(inclusive ? sum : before);
        }
        return;
    }
    for (uint64_t i = from; i < to; i++) {
        uint64_t before = sum;
        sum += (uint64_t)oracle_int(in, i);
        oracle_put_int(out, i, (int64_t)(inclusive ? sum : before));
    }
}

/* The elements [from, to), every `length` elements on their own; 0: all of them together, those
 * before `from` adding up to `before`. */
static void scan_rows(const struct oracle_operand *in, const struct oracle_operand *out,
                      uint64_t from, uint64_t to, uint64_t before, uint64_t length, bool inclusive)
{
    uint64_t end = oracle_part_end(in, out, to);
    if (length && from < end)
        before = sum_of(in, from - from % length, from);
    while (from < end) {
        uint64_t left = length ? length - from % length : end - from;
        uint64_t stop = left < end - from ? from + left : end;
        scan_stretch(in, out, from, stop, before, inclusive);
        before = 0;
        from = stop;
    }
}

static uint64_t row_length(const struct oracle_operand *o)
{
    return o->value > 0 ? (uint64_t)o->value : 0;
}

/* The three functions of an oracle that does nothing but scan. Rows need no sums of what is before
 * them, unless there is one row. */
#define SCAN(name, length, inclusive)                                                              \
    void oracle_##name(const struct oracle_operand *o)                                             \
    {                                                                                              \
        scan_rows(&o[0], &o[1], 0, o[0].count, 0, length, inclusive);                              \
    }                                                                                              \
    uint64_t oracle_sum_##name(const struct oracle_operand *o, uint64_t from, uint64_t to)         \
    {                                                                                              \
        return (length) ? 0 : sum_of(&o[0], from, oracle_part_end(&o[0], &o[1], to));              \
    }                                                                                              \
    void oracle_fill_##name(const struct oracle_operand *o, uint64_t from, uint64_t to,            \
                            uint64_t before)                                                       \
    {                                                                                              \
        scan_rows(&o[0], &o[1], from, to, before, length, inclusive);                              \
    }
SCAN(exclusive_scan, 0, false)
SCAN(inclusive_scan, 0, true)
SCAN(exclusive_scan_rows, row_length(&o[2]), false)
SCAN(inclusive_scan_rows, row_length(&o[2]), true)
SCAN(inclusive_scan_32, 32, true)
SCAN(inclusive_scan_4096, 4096, true)
#undef SCAN

void oracle_exclusive_scan_1024(const struct oracle_operand *o)
{
    oracle_fill_exclusive_scan_1024(o, 0, o[0].count, 0);
}

uint64_t oracle_sum_exclusive_scan_1024(const struct oracle_operand *o, uint64_t from, uint64_t to)
{
    (void)o, (void)from, (void)to;
    return 0;
}

/* A total belongs to the part in which its tile begins; those behind the input to the last one. */
void oracle_fill_exclusive_scan_1024(const struct oracle_operand *o, uint64_t from, uint64_t to,
                                     uint64_t unused)
{
    enum { TILE = 1024 };
    const struct oracle_operand *in = &o[0], *totals = &o[2];
    scan_rows(in, &o[1], from, to, unused, TILE, false);
    uint64_t end = to == in->count ? totals->count : (to + TILE - 1) / TILE;
    for (uint64_t t = (from + TILE - 1) / TILE; t < end && t < totals->count; t++) {
        uint64_t first = t * TILE, left = first < in->count ? in->count - first : 0;
        oracle_put_int(totals, t, (int64_t)sum_of(in, first, first + (left < TILE ? left : TILE)));
    }
}
