/* What all *.sync operations begin and end with. For exec_warp.c and exec_fused.c only. */
#ifndef CPU_VM_EXEC_WARP_H
#define CPU_VM_EXEC_WARP_H

#include "cpu/vm/exec.h"
#include "cpu/vm/race.h"

/* Everybody who is named is here, and nobody else: the usual case. */
static inline bool all_here(const struct warp_op *op, const uint8_t *f, const uint8_t *u,
                            uint32_t m, const struct warp *w)
{
    uint32_t named;
    if (op->mask_slot) {
        named = SLOT(r32, op->mask);
    } else { /* lane by lane: do they agree? */
        const r32 *masks = (const r32 *)(const void *)(f + op->mask);
        uint32_t different = 0;
        named = masks[LANE(m)];
        for (unsigned l = 0; l < VM_LANES; l++)
            different |= m & (1u << l) ? masks[l] ^ named : 0;
        if (different)
            return false;
    }
    return (named & w->live) == m && !w->force_sync;
}

/* All live lanes: see vm_race_warp_sync(). */
static inline void sync_clocks(struct warp *w, uint32_t m)
{
    if (!w->clocks)
        return;
    if (m == w->live) {
        w->full_event = ++w->sync_events;
        w->partial_events = false;
        return;
    }
    vm_race_warp_sync(w, m);
}

#endif
