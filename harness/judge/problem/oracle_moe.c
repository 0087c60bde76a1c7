/* Mixture of experts: counts, offsets, and where tokens go. */
#include "judge/problem/oracle.h"

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
