/* watch: who sees every access to global or shared memory, once it is known to be in bounds. Nobody
 * does unless a check asks for it, since it costs the short paths of loads and stores.
 *
 * To add a watcher: a bit here, its checks in vm_watch_start(), its call in vm_watch(). */
#ifndef CPU_VM_WATCH_H
#define CPU_VM_WATCH_H

#include "cpu/vm/engine.h"

enum vm_watcher { VM_WATCH_COUNTERS = 1 };

/* Sets engine->watch_global and watch_shared from engine->checks, for a launch. */
void vm_watch_start(struct vm_engine *e);

/* Lanes in `global` or `shared` access memory with `op`; one of the two may be empty. Their
 * addresses (shared: offsets in the window) are in w->lane_address. Loads and stores are told
 * before the bytes move, atomics afterwards. */
void vm_watch(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared);

/* One end of asynchronous copies, which count when they are started. */
struct watch_side {
    const struct mem_op *op;
    uint64_t address[VM_LANES];
    uint32_t bytes[VM_LANES];
};
void watch_copy(struct warp *w, const struct watch_side *side, uint32_t m, bool bulk);

/* watch_count.c */
void watch_count(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared);

#endif
