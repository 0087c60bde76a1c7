/* sched: blocks and the order in which warps run. Private to cpu/vm. */
#ifndef CPU_VM_SCHED_H
#define CPU_VM_SCHED_H

#include "cpu/vm/engine.h"

#include "base/rng.h"

/* Runs all blocks of the launch that the engine is set up for. The result is in e->status. */
void sched_run(struct vm_engine *e);

static inline uint64_t sched_draw(struct vm_engine *e, uint64_t bound)
{
    return rng_below(e->rng_key, e->rng_counter++, bound);
}

/* ---- sched_shake.c: what WIRE_INTERLEAVED draws ---- */

struct shake { /* the habits of one launch */
    int32_t turn_most;
    uint32_t active;  /* blocks at first */
    uint32_t part_in; /* one turn in so many begins by parting lanes; 0 = none */
    uint32_t slow_in; /* one warp in so many is slow; 0 = none */
    uint64_t slow_key;
};
void shake_start(struct shake *k, struct vm_engine *e);
/* Does a warp that has been drawn let others go first? */
bool shake_waits(const struct shake *k, const struct warp *w);
/* Before a turn of w, which has a running group: who runs, and for how many instructions. */
int32_t shake_warp(const struct shake *k, struct warp *w);

/* ---- launch.c: the memory of blocks ---- */

/* The block of a slot, made and set up when it is first used in this launch. */
struct block *launch_slot(struct vm_engine *e, uint32_t slot);
/* Starts block `index` of the grid in it. */
void launch_start_block(struct block *b, uint64_t index);

/* ---- sched_stuck.c ---- */

/* After a turn of a warp that still wants to run: is it going round in a circle? Sets w->cycling.
 */
void stuck_watch(struct warp *w);
/* Nothing has moved for a whole round: will nothing ever, unless the scheduler helps? */
bool stuck_judge(struct vm_engine *e, struct block **active, uint32_t count);
/* Ends the launch with a deadlock. */
void stuck_report(struct vm_engine *e, struct block **active, uint32_t count);
/* Nothing moves unless more blocks become resident than were asked for. */
void stuck_warn_resident(struct vm_engine *e, struct block **active, uint32_t count);

#endif
