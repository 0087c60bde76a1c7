/* Who goes where: compaction, partition, sorting, counting. */
#include "judge/problem/oracle.h"

#include <stdbool.h>

/* Every element is written to the next free place and the place moves on only if it is kept: no
 * branch to mispredict. The element after the last kept one is put back afterwards. */
void oracle_compact_positive(const struct oracle_operand *o)
{
    const uint32_t *bits = o[0].in; /* copied as bits */
    const float *in = o[0].in;
    uint32_t *out = o[1].out;
    uint64_t n = oracle_common(&o[0], &o[1]);
    uint64_t total = 0;
    for (uint64_t i = 0; i < n; i++)
        total += in[i] > 0;
    uint32_t after = total < n ? out[total] : 0;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool keep = in[i] > 0;
        out[kept] = bits[i];
        kept += keep;
    }
    if (total < n)
        out[total] = after;
    if (o[2].count)
        *(int32_t *)o[2].out = (int32_t)(uint32_t)total;
}
