/* The list of watchers, see watch.h. */
#include "cpu/vm/watch.h"

void vm_watch_start(struct vm_engine *e)
{
    e->watch_global = e->watch_shared = 0;
    if (e->checks & WIRE_CHECK_COUNTERS) {
        e->watch_global |= VM_WATCH_COUNTERS;
        e->watch_shared |= VM_WATCH_COUNTERS;
    }
}

void vm_watch(struct warp *w, const struct mem_op *op, uint32_t global, uint32_t shared)
{
    const struct vm_engine *e = w->engine;
    uint32_t watchers = (global ? e->watch_global : 0) | (shared ? e->watch_shared : 0);
    if (watchers & VM_WATCH_COUNTERS)
        watch_count(w, op, global, shared);
}
