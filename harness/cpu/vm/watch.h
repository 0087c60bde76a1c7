/* watch: who sees every access to global or shared memory, once it is known to be in bounds. Nobody
 * does unless a check asks for it, since it costs the short paths of loads and stores.
 *
 *   watch.c         the list; atomics and asynchronous copies, which are always counted
 *   watch_count.c   sectors and bank conflicts
 *   watch_profile.c counters per source line
 *   watch_trace.c   every access with its value
 *
 * To add a watcher: a bit here, its checks in vm_watch_start(), its call in tell(). */
#ifndef CPU_VM_WATCH_H
#define CPU_VM_WATCH_H

#include "cpu/vm/engine.h"

enum vm_watcher { VM_WATCH_COUNTERS = 1, VM_WATCH_PROFILE = 2, VM_WATCH_TRACE = 4 };

/* Sets engine->watch_global and watch_shared from engine->checks, for a launch whose kernel, code
 * and shape are set; and ends what that began. */
void vm_watch_start(struct vm_engine *e);
void vm_watch_end(struct vm_engine *e);

/* Lanes in `global` or `shared` load or store with `op`; one of the two may be empty. Their
 * addresses (shared: offsets in the window) are in w->lane_address, and the bytes have not moved
 * yet. Called if engine->watch_global or watch_shared says so. */
void vm_watch(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared);
/* The same of an atomic that has been done. Always called. */
void vm_watch_atomic(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared);

/* One end of asynchronous copies, which count when they are started. Always called. */
struct watch_side {
    const struct mem_op *op;
    uint64_t address[VM_LANES];
    uint32_t bytes[VM_LANES];
};
void vm_watch_copy(struct warp *w, const struct watch_side *side, uint32_t m, bool bulk);

/* One request on its way through the watchers. */
struct watch_access {
    uint32_t global, shared;     /* lanes */
    bool is_copy;                /* asynchronous: the bytes move later */
    uint64_t bytes;              /* of global memory */
    uint64_t sectors, conflicts; /* filled in by watch_count() */
};
void watch_count(struct warp *w, const struct mem_op *op, struct watch_access *a);
void watch_profile(struct warp *w, const struct mem_op *op, const struct watch_access *a);

/* ---- watch_profile.c ---- */

/* Where profiled code counts: `count` PTX instructions of a block, or 0 for one behind a guard. */
struct profile_point {
    const struct ptx_instr *first;
    uint32_t count;
    const uint8_t *additions; /* per instruction */
};
struct point_count {
    uint64_t warps, lanes;
};

void watch_profile_configure(struct vm *vm); /* the configuration has changed */
void watch_profile_start(struct vm_engine *e);
void watch_profile_end(struct vm_engine *e);
void watch_profile_free(struct vm_engine *e);
/* The counters of the line of the instruction at pc, while engine->profile is set. */
struct wire_counters *watch_line(struct vm_engine *e, uint32_t pc);

/* ---- watch_trace.c ---- */

void watch_trace_configure(struct vm *vm);
void watch_trace_start(struct vm_engine *e);
void watch_trace_free(struct vm_engine *e);
void watch_trace(struct warp *w, const struct mem_op *op, const struct watch_access *a);
/* While engine->trace is set: a lane's asynchronous copy has read or written these bytes (shared:
 * `at` is an offset in the window); a barrier of the whole block is complete. */
void watch_trace_copied(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t at,
                        bool shared, uint32_t bytes);
void watch_trace_barrier(struct block *b);

/* Counts something that happened at pc. */
static inline void vm_watch_event(struct vm_engine *e, uint32_t pc, enum counter counter)
{
    e->counters->value[counter]++;
    if (__builtin_expect(e->profile != NULL, 0))
        watch_line(e, pc)->value[counter]++;
}

#endif
