/* Mixture of experts: counts, offsets, and where tokens go. */
#include "judge/problem/oracle.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void oracle_moe_counts_offsets(const struct oracle_operand *o)
{
    const uint32_t *ids = o[0].in;
    uint32_t *counts = o[1].out, *offsets = o[2].out;
    uint64_t experts = oracle_common(&o[1], &o[2]);
    if (experts)
        memset(counts, 0, experts * sizeof *counts);
    for (uint64_t i = 0; i < o[0].count; i++)
        if (ids[i] < experts) /* negative ids are large as unsigned */
            counts[ids[i]]++;
    uint32_t sum = 0;
    for (uint64_t e = 0; e < experts; e++) {
        offsets[e] = sum;
        sum += counts[e];
    }
}

/* How many ids each of the `experts` gets, and room for one number more; to be freed. */
static uint64_t *count_ids(const struct oracle_operand *ids, uint64_t experts)
{
    const uint32_t *id = ids->in;
    uint64_t *counts = calloc(experts + 1, sizeof *counts);
    if (!counts)
        BUG("no memory for %llu experts", (unsigned long long)experts);
    for (uint64_t i = 0; i < ids->count; i++)
        if (id[i] < experts)
            counts[id[i]]++;
    return counts;
}

/* Counts become where each expert begins when each is padded to whole blocks; the last is the end.
 */
static void scan_padded(uint64_t *counts, uint64_t experts, uint64_t block)
{
    uint64_t sum = 0;
    for (uint64_t e = 0; e <= experts; e++) {
        uint64_t padded = e < experts ? (counts[e] + block - 1) / block * block : 0;
        counts[e] = sum;
        sum += padded;
    }
}

/* Offsets, and slots by expert with `filler` in all other places. The starts are used up. */
static void place_slots(const struct oracle_operand *ids, const struct oracle_operand *offsets,
                        const struct oracle_operand *slots, uint64_t *starts, uint32_t filler)
{
    const uint32_t *id = ids->in;
    uint32_t *offset = offsets->out, *slot = slots->out;
    uint64_t experts = offsets->count - 1;
    for (uint64_t e = 0; e <= experts; e++)
        offset[e] = (uint32_t)starts[e];
    for (uint64_t p = 0; p < slots->count; p++)
        slot[p] = filler;
    for (uint64_t i = 0; i < ids->count; i++) {
        uint64_t place = id[i] < experts ? starts[id[i]]++ : slots->count;
        if (place < slots->count)
            slot[place] = (uint32_t)i;
    }
}

void oracle_moe_align_block_size(const struct oracle_operand *o)
{
    int32_t *owner = o[3].out;
    uint64_t experts = o[1].count ? o[1].count - 1 : 0;
    uint64_t block = o[4].value > 0 ? (uint64_t)o[4].value : 1;
    uint64_t *starts = count_ids(&o[0], experts);
    scan_padded(starts, experts, block);
    for (uint64_t b = 0, e = 0; b < o[3].count; b++) {
        while (e < experts && starts[e + 1] <= b * block)
            e++;
        owner[b] = e < experts ? (int32_t)e : -1;
    }
    if (o[1].count)
        place_slots(&o[0], &o[1], &o[2], starts, (uint32_t)o[0].count);
    free(starts);
}

void oracle_moe_scatter(const struct oracle_operand *o)
{
    if (o[1].count == 0)
        return;
    uint64_t experts = o[1].count - 1;
    uint64_t *starts = count_ids(&o[0], experts);
    scan_padded(starts, experts, 1);
    place_slots(&o[0], &o[1], &o[2], starts, UINT32_MAX);
    free(starts);
}

void oracle_moe_gather_combine(const struct oracle_operand *o)
{
    const float *rows = o[0].in, *weights = o[2].in;
    const uint32_t *places = o[1].in;
    float *out = o[3].out;
    uint64_t top_k = o[4].value > 0 ? (uint64_t)o[4].value : 0;
    uint64_t hidden = o[5].value > 0 ? (uint64_t)o[5].value : 1;
    uint64_t row_count = o[0].count / hidden, pairs = oracle_common(&o[1], &o[2]);
    for (uint64_t i = 0; i < o[3].count; i++) {
        double sum = 0;
        for (uint64_t pair = i / hidden * top_k, k = 0; k < top_k && pair + k < pairs; k++)
            if (places[pair + k] < row_count)
                sum += (double)weights[pair + k] * rows[places[pair + k] * hidden + i % hidden];
        out[i] = (float)sum;
    }
}
