/* The list of watchers, see watch.h. */
#include "cpu/vm/watch.h"

void vm_watch_start(struct vm_engine *e)
{
    e->watch_global = e->watch_shared = 0;
    e->profile = NULL;
    if (e->checks & WIRE_CHECK_COUNTERS)
        e->watch_global |= VM_WATCH_COUNTERS;
    if (e->checks & WIRE_CHECK_PROFILE) {
        e->watch_global |= VM_WATCH_COUNTERS | VM_WATCH_PROFILE;
        watch_profile_start(e);
    }
    e->trace = NULL;
    if (e->checks & WIRE_CHECK_TRACE) {
        e->watch_global |= VM_WATCH_TRACE;
        watch_trace_start(e);
    }
    e->watch_shared = e->watch_global;
}

void vm_watch_end(struct vm_engine *e)
{
    if (e->profile)
        watch_profile_end(e);
    e->trace = NULL;
}

static void tell(struct warp *w, const struct mem_op *op, struct watch_access *a)
{
    struct vm_engine *e = w->engine;
    uint32_t watchers = (a->global ? e->watch_global : 0) | (a->shared ? e->watch_shared : 0);
    if (watchers & VM_WATCH_COUNTERS)
        watch_count(w, op, a);
    if (watchers & VM_WATCH_PROFILE)
        watch_profile(w, op, a);
    if (watchers & VM_WATCH_TRACE && !a->is_copy)
        watch_trace(w, op, a);
}

void vm_watch(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared)
{
    struct watch_access a = {
        .global = global, .shared = shared, .bytes = (uint64_t)vm_count_lanes(global) * op->total};
    tell(w, op, &a);
}

/* An atomic reads and writes. */
void vm_watch_atomic(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared)
{
    struct vm_engine *e = w->engine;
    uint64_t *v = e->counters->value;
    const uint64_t lanes = vm_count_lanes(global);
    if (global) {
        v[COUNTER_global_bytes_read] += lanes * op->total;
        v[COUNTER_global_bytes_written] += lanes * op->total;
        v[COUNTER_global_requests]++;
        v[COUNTER_atomics] += lanes;
        v[COUNTER_atomic_requests]++;
    }
    if (shared) {
        v[COUNTER_shared_requests]++;
        v[COUNTER_shared_atomics] += vm_count_lanes(shared);
        v[COUNTER_shared_atomic_requests]++;
    }
    if ((global && e->watch_global) || (shared && e->watch_shared))
        vm_watch(w, op, global, shared);
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

/* A request to global memory by copies. */
static void count_bytes(const struct warp *w, const struct mem_op *op, uint64_t bytes)
{
    uint64_t *v = w->engine->counters->value;
    v[op->write ? COUNTER_global_bytes_written : COUNTER_global_bytes_read] += bytes;
    v[COUNTER_global_requests]++;
}

/* A bulk copy is one request of one lane, as long as it is; the engine that does it moves whole
 * rows of shared memory and meets no conflicts. */
static void count_bulk(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                       uint32_t bytes)
{
    struct vm_engine *e = w->engine;
    if (is_shared(w, op, &address) || bytes == 0)
        return;
    count_bytes(w, op, bytes);
    struct watch_access a = {.global = 1u << lane,
                             .bytes = bytes,
                             .sectors = (address + bytes - 1) / 32 - address / 32 + 1};
    if (e->watch_global & VM_WATCH_COUNTERS)
        e->counters->value[COUNTER_global_sectors] += a.sectors;
    if (e->watch_global & VM_WATCH_PROFILE)
        watch_profile(w, op, &a);
}

/* cp.async is like a load from global and a store to shared memory; bytes that it fills with zeros
 * are not read. */
void vm_watch_copy(struct warp *w, const struct watch_side *side, uint32_t m, bool bulk)
{
    struct vm_engine *e = w->engine;
    struct mem_op op = *side->op;
    struct watch_access a = {.is_copy = true};
    uint32_t total = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        if (bulk) {
            count_bulk(w, &op, l, side->address[l], side->bytes[l]);
            continue;
        }
        if (side->bytes[l] == 0)
            continue;
        w->lane_address[l] = side->address[l];
        if (is_shared(w, &op, &w->lane_address[l])) {
            a.shared |= 1u << l;
        } else {
            a.global |= 1u << l;
            a.bytes += side->bytes[l];
        }
        total = side->bytes[l] > total ? side->bytes[l] : total;
    }
    if (a.global)
        count_bytes(w, &op, a.bytes);
    if (a.shared)
        e->counters->value[COUNTER_shared_requests]++;
    op.total = (uint8_t)total;
    tell(w, &op, &a);
}
