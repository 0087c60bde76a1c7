/* Counters that cost time: sectors of global requests, bank conflicts of shared ones.
 *
 * Bank conflicts: 32 banks of 4 bytes; a bank gives one word at a time, to all lanes that want it.
 * A warp's access of 8 bytes per lane goes as two half-warps, one of 16 bytes as four quarters;
 * each part takes as many passes as the most words that one bank has to give. The first pass of a
 * part is what it costs anyway, every other one is a conflict. */
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
    unsigned parts = op->total <= 4 ? 1 : op->total <= 8 ? 2 : 4, lanes = VM_LANES / parts;
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

/* ---- asynchronous copies ---- */

static bool is_shared(const struct warp *w, const struct mem_op *op, uint64_t *address)
{
    if (op->space == PTX_SHARED || op->space == PTX_SHARED_CLUSTER)
        return true;
    if (op->space != PTX_GENERIC)
        return false;
    uint64_t offset = *address - (w->engine->vm->window + VM_SHARED_OFFSET);
    if (offset >= VM_SHARED_BYTES)
        return false;
    *address = offset;
    return true;
}

static void count_bytes(const struct warp *w, const struct mem_op *op, uint64_t bytes)
{
    uint64_t *v = w->engine->counters->value;
    v[op->write ? COUNTER_global_bytes_written : COUNTER_global_bytes_read] += bytes;
    v[COUNTER_global_requests]++;
}

/* A bulk copy is one request of one lane, as long as it is; the engine that does it moves whole
 * rows of shared memory and meets no conflicts. */
static void count_bulk(const struct warp *w, const struct mem_op *op, uint64_t address,
                       uint32_t bytes)
{
    if (is_shared(w, op, &address) || bytes == 0)
        return;
    count_bytes(w, op, bytes);
    if (w->engine->watch_global & VM_WATCH_COUNTERS)
        w->engine->counters->value[COUNTER_global_sectors] +=
            (address + bytes - 1) / 32 - address / 32 + 1;
}

/* cp.async is like a load from global and a store to shared memory; bytes that it fills with zeros
 * are not read. */
void watch_copy(struct warp *w, const struct watch_side *side, uint32_t m, bool bulk)
{
    struct vm_engine *e = w->engine;
    struct mem_op op = *side->op;
    uint32_t global = 0, shared = 0, total = 0;
    uint64_t bytes = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        if (bulk) {
            count_bulk(w, &op, side->address[l], side->bytes[l]);
            continue;
        }
        if (side->bytes[l] == 0)
            continue;
        w->lane_address[l] = side->address[l];
        if (is_shared(w, &op, &w->lane_address[l])) {
            shared |= 1u << l;
        } else {
            global |= 1u << l;
            bytes += side->bytes[l];
        }
        total = side->bytes[l] > total ? side->bytes[l] : total;
    }
    if (global)
        count_bytes(w, &op, bytes);
    if (shared)
        e->counters->value[COUNTER_shared_requests]++;
    op.total = (uint8_t)total;
    if ((global && e->watch_global) || (shared && e->watch_shared))
        vm_watch(w, &op, global, shared);
}
