/* Counters that cost time: sectors of global requests, bank conflicts of shared ones. */
#include "cpu/vm/watch.h"

static void count_sectors(struct warp *w, const struct mem_op *op, uint32_t m)
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
    w->engine->counters->value[COUNTER_global_sectors] += count;
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
static unsigned passes(const struct warp *w, const struct mem_op *op, uint32_t m)
{
    uint32_t words[32][VM_LANES];
    uint8_t count[32] = {0};
    unsigned most = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        uint64_t address = w->lane_address[__builtin_ctz(rest)];
        for (unsigned k = 0; k < (op->total + 3u) / 4; k++) {
            uint32_t word = (uint32_t)(address / 4) + k, bank = word % 32;
            unsigned at = 0;
            while (at < count[bank] && words[bank][at] != word)
                at++;
            if (at == count[bank] && count[bank] < VM_LANES)
                words[bank][count[bank]++] = word;
            if (count[bank] > most)
                most = count[bank];
        }
    }
    return most;
}

static void count_banks(struct warp *w, const struct mem_op *op, uint32_t m)
{
    unsigned parts = op->total <= 4 ? 1 : op->total == 8 ? 2 : 4, lanes = VM_LANES / parts;
    for (unsigned k = 0; k < parts; k++) {
        uint32_t part = lanes == 32 ? m : m & (((1u << lanes) - 1) << (k * lanes));
        if (part && !(op->total <= 4 && obviously_free(w, part)))
            w->engine->counters->value[COUNTER_shared_bank_conflicts] += passes(w, op, part) - 1;
    }
}

void watch_count(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared)
{
    if (global)
        count_sectors(w, op, global);
    if (shared)
        count_banks(w, op, shared);
}
