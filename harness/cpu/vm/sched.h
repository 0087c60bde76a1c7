/* sched: blocks and the order in which warps run. Private to cpu/vm. */
#ifndef CPU_VM_SCHED_H
#define CPU_VM_SCHED_H

#include "cpu/vm/engine.h"

/* Runs all blocks of the launch that the engine is set up for. The result is in e->status. */
void sched_run(struct vm_engine *e);

/* ---- launch.c: the memory of blocks ---- */

/* The block of a slot, made and set up when it is first used in this launch. */
struct block *launch_slot(struct vm_engine *e, uint32_t slot);
/* Starts block `index` of the grid in it. */
void launch_start_block(struct block *b, uint64_t index);

/* ---- sched_stuck.c ---- */

/* After a turn of a warp that still wants to run: is it going round in a circle? Sets w->cycling.
 */
void stuck_watch(struct warp *w);
/* Nothing has moved for a whole round. true: reported, the launch has ended. */
bool stuck_judge(struct vm_engine *e, struct block **active, uint32_t count);

#endif
