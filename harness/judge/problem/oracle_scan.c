/* Prefix sums, by the plainest loop. Sums are taken in uint64 and cut to the element's size at the
 * end, which is what wrapping in the element's own size comes to. */
#include "judge/problem/oracle.h"

void oracle_exclusive_scan(const struct oracle_operand *o)
{
    const struct oracle_operand *in = &o[0], *out = &o[1];
    uint64_t n = oracle_common(in, out), sum = 0;
    if (in->type == WIRE_int32) { /* the common one; ten million elements of it are judged */
        const uint32_t *from = in->in;
        uint32_t *to = out->out;
        for (uint64_t i = 0; i < n; i++) {
            to[i] = (uint32_t)sum;
            sum += from[i];
        }
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        oracle_put_int(out, i, (int64_t)sum);
        sum += (uint64_t)oracle_int(in, i);
    }
}
