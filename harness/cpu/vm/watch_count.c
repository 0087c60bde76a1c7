/* Counters that cost time: sectors of global requests, bank conflicts of shared ones.
 *
 * Bank conflicts: 32 banks of 4 bytes; a bank gives one word at a time, to all lanes that want it.
 * A warp's access of 8 bytes per lane goes as two half-warps, one of 16 bytes as four quarters;
 * each part takes as many passes as the most words that one bank has to give. The first pass of a
 * part is what it costs anyway, every other one is a conflict.
 *
 * Of an atomic every lane needs a pass of its own, also those that meet at one word. Two kinds cost
 * less: additions of 1 whose result nobody reads, which memory does for all lanes at a word at once
 * (mem_op.combined), and those with one address for all lanes, where the compiler lets one lane act
 * for all of them. So it was measured on an H200, see tests/gpu/RESULTS.md. */
#include "cpu/vm/watch.h"

static uint64_t sectors(const struct warp *w, const struct mem_op *op, uint32_t m)
{
    uint64_t seen[2 * VM_LANES], most = 0;
    unsigned count = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        uint64_t from = w->lane_address[__builtin_ctz(rest)] / 32;
        uint64_t to = (w->lane_address[__builtin_ctz(rest)] + op->total - 1) / 32;
        for (uint64_t s = from; s <= to; s++) {
            unsigned k = s > most ? 0 : count; /* most lanes go upwards: nothing to look for */
            while (k > 0 && seen[k - 1] != s)
                k--;
            if (k > 0)
                continue;
            seen[count++] = s;
            if (s > most)
                most = s;
        }
    }
    return count;
}

/* Does every bank have to give one word at most? True for neighbouring words and for one word. */
static bool obviously_free(const struct warp *w, uint32_t m)
{
    uint64_t first = w->lane_address[__builtin_ctz(m)] / 4, low = first, high = first;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        uint64_t word = w->lane_address[__builtin_ctz(rest)] / 4;
        low = word < low ? word : low;
        high = word > high ? word : high;
    }
    return high - low < 32; /* that many words lie in different banks */
}

/* Passes of one part of the warp: the most distinct words that one bank has to give. */
static unsigned passes(const struct warp *w, const struct mem_op *op, uint32_t m, bool alone)
{
    uint32_t words[32][VM_LANES];
    uint8_t count[32] = {0};
    unsigned most = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        uint64_t address = w->lane_address[__builtin_ctz(rest)];
        for (unsigned k = 0; k < (op->total + 3u) / 4; k++) {
            uint32_t word = (uint32_t)(address / 4) + k, bank = word % 32;
            unsigned at = 0;
            while (at < count[bank] && (alone || words[bank][at] != word))
                at++;
            if (at == count[bank] && count[bank] < VM_LANES)
                words[bank][count[bank]++] = word;
            if (count[bank] > most)
                most = count[bank];
        }
    }
    return most;
}

static uint64_t conflicts(const struct warp *w, const struct mem_op *op, uint32_t m)
{
    const bool is_atomic = op->in->op == PTX_OP_atom || op->in->op == PTX_OP_red;
    const bool alone = is_atomic && !op->combined; /* every lane in a pass of its own */
    unsigned parts = op->total <= 4 ? 1 : op->total <= 8 ? 2 : 4, lanes = VM_LANES / parts;
    uint64_t extra = 0;
    if (is_atomic && op->form == VM_ADDRESS_SLOT)
        return 0;
    for (unsigned k = 0; k < parts; k++) {
        uint32_t part = lanes == 32 ? m : m & (((1u << lanes) - 1) << (k * lanes));
        if (part && (alone || op->total > 4 || !obviously_free(w, part)))
            extra += passes(w, op, part, alone) - 1;
    }
    return extra;
}

void watch_count(struct warp *w, const struct mem_op *op, struct watch_access *a)
{
    uint64_t *v = w->engine->counters->value;
    if (a->global)
        v[COUNTER_global_sectors] += a->sectors = sectors(w, op, a->global);
    if (a->shared)
        v[COUNTER_shared_bank_conflicts] += a->conflicts = conflicts(w, op, a->shared);
}
