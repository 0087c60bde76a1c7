/* Who goes where: compaction, partition, sorting, counting. */
#include "judge/problem/oracle.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void oracle_compact_positive(const struct oracle_operand *o)
{
    oracle_fill_compact_positive(o, 0, o[0].count, 0);
}

uint64_t oracle_sum_compact_positive(const struct oracle_operand *o, uint64_t from, uint64_t to)
{
    const float *in = o[0].in;
    uint64_t end = oracle_part_end(&o[0], &o[1], to), kept = 0;
    for (uint64_t i = from; i < end; i++)
        kept += in[i] > 0;
    return kept;
}

/* Every element is written to the next free place of a bench and the place moves on only if it is
 * kept: no branch to mispredict. What lies behind the last kept one never leaves the bench. */
void oracle_fill_compact_positive(const struct oracle_operand *o, uint64_t from, uint64_t to,
                                  uint64_t place)
{
    enum { BENCH = 2048 };
    const uint32_t *bits = o[0].in; /* copied as bits */
    const float *in = o[0].in;
    uint32_t *out = o[1].out, bench[BENCH];
    uint64_t end = oracle_part_end(&o[0], &o[1], to);
    for (uint64_t first = from; first < end; first += BENCH) {
        uint64_t behind = end - first < BENCH ? end : first + BENCH, kept = 0;
        for (uint64_t i = first; i < behind; i++) {
            bench[kept] = bits[i];
            kept += in[i] > 0;
        }
        if (kept)
            memcpy(out + place, bench, kept * sizeof *out);
        place += kept;
    }
    if (to == o[0].count && o[2].count)
        *(int32_t *)o[2].out = (int32_t)(uint32_t)place;
}

void oracle_partition(const struct oracle_operand *o)
{
    uint64_t n = oracle_common(&o[0], &o[1]), below = 0;
    int64_t pivot = o[3].value;
    for (uint64_t i = 0; i < n; i++)
        below += oracle_int(&o[0], i) < pivot;
    uint64_t first = 0, second = below;
    for (uint64_t i = 0; i < n; i++)
        oracle_move(&o[1], oracle_int(&o[0], i) < pivot ? first++ : second++, &o[0], i);
    if (o[2].count)
        oracle_put_int(&o[2], 0, (int64_t)below);
}

void oracle_histogram(const struct oracle_operand *o)
{
    uint64_t bins = o[1].count;
    uint64_t *counts = calloc(bins + 1, sizeof *counts);
    if (!counts)
        BUG("no memory for %llu bins", (unsigned long long)bins);
    for (uint64_t i = 0; i < o[0].count; i++) {
        uint64_t value = (uint64_t)oracle_int(&o[0], i); /* negative ones are large */
        counts[value < bins ? value : bins]++;
    }
    for (uint64_t v = 0; v < bins; v++)
        oracle_put_int(&o[1], v, (int64_t)counts[v]);
    free(counts);
}

/* How many pairs there are: keys and values, both ways. */
static uint64_t pair_count(const struct oracle_operand *o)
{
    uint64_t keys = oracle_common(&o[0], &o[1]), values = oracle_common(&o[2], &o[3]);
    return values < keys ? values : keys;
}

static void move_pair(const struct oracle_operand *o, uint64_t to, uint64_t from)
{
    oracle_move(&o[1], to, &o[0], from);
    oracle_move(&o[3], to, &o[2], from);
}

void oracle_radix_split(const struct oracle_operand *o)
{
    uint64_t n = pair_count(o), zeros = 0;
    unsigned bit = (unsigned)o[4].value & 63;
    for (uint64_t i = 0; i < n; i++)
        zeros += !((uint64_t)oracle_int(&o[0], i) >> bit & 1);
    uint64_t first = 0, second = zeros;
    for (uint64_t i = 0; i < n; i++)
        move_pair(o, (uint64_t)oracle_int(&o[0], i) >> bit & 1 ? second++ : first++, i);
}

struct placed {
    uint64_t key, index;
};

/* Counting sort by byte `digit`; false, and nothing moved, if all keys have the same. */
static bool sort_by_byte(const struct placed *from, struct placed *to, uint64_t n, unsigned digit)
{
    uint64_t start[256] = {0}, sum = 0;
    for (uint64_t i = 0; i < n; i++)
        start[from[i].key >> digit * 8 & 255]++;
    if (start[from[0].key >> digit * 8 & 255] == n)
        return false;
    for (unsigned d = 0; d < 256; d++) {
        uint64_t here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < n; i++)
        to[start[from[i].key >> digit * 8 & 255]++] = from[i];
    return true;
}

void oracle_radix_sort(const struct oracle_operand *o)
{
    uint64_t n = pair_count(o);
    struct placed *from = malloc((2 * n + 1) * sizeof *from), *to = from + n;
    if (!from)
        BUG("no memory to sort %llu pairs", (unsigned long long)n);
    void *allocated = from;
    /* Negative keys come first: the sign bit, flipped, orders them as unsigned. */
    uint64_t flip = wire_type_kind(o[0].type) == 's' ? (uint64_t)1 << 63 : 0;
    for (uint64_t i = 0; i < n; i++)
        from[i] = (struct placed){(uint64_t)oracle_int(&o[0], i) ^ flip, i};
    for (unsigned digit = 0; n && digit < 8; digit++) {
        if (!sort_by_byte(from, to, n, digit))
            continue;
        struct placed *swap = from;
        from = to;
        to = swap;
    }
    for (uint64_t i = 0; i < n; i++)
        move_pair(o, i, from[i].index);
    free(allocated);
}

void oracle_run_length_encode(const struct oracle_operand *o)
{
    uint64_t n = o[0].count, most = oracle_common(&o[1], &o[2]), runs = 0;
    for (uint64_t i = 0, begin = 0; i < n; i++) {
        if (i + 1 < n && oracle_int(&o[0], i + 1) == oracle_int(&o[0], i))
            continue;
        if (runs < most) {
            oracle_move(&o[1], runs, &o[0], i);
            oracle_put_int(&o[2], runs, (int64_t)(i + 1 - begin));
        }
        runs++;
        begin = i + 1;
    }
    if (o[3].count)
        oracle_put_int(&o[3], 0, (int64_t)runs);
}
