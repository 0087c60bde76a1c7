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
    uint32_t
        meet_in; /* in one turn of so many groups join those they come past; 0 = at syncs only */
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

/* An engine for another host thread; a launch's settings for it; and its memory for the launch, by
 * that thread itself. */
struct vm_engine *launch_new_engine(struct vm *vm);
void launch_copy(struct vm_engine *e, const struct vm_engine *from, struct wire_counters *counters);
void launch_follow(struct vm_engine *e);

/* ---- sched_crew.c: several host threads. Without a crew they speak of this engine alone ---- */

/* Runs the launch on as many host threads as make sense. The result is in e->status. */
void crew_run(struct vm_engine *e);
void crew_free(struct vm_crew *c);
/* The next block to start. false: there is none left. */
bool crew_claim(struct vm_engine *e, uint64_t *index);
uint64_t crew_unclaimed(const struct vm_engine *e);
uint64_t crew_version(const struct vm_engine *e); /* of memory: grows with every change */
uint64_t crew_steps(const struct vm_engine *e);   /* of this launch, so far */
/* Ends the launch; false: another host thread has done so. */
bool crew_end(struct vm_engine *e, enum vm_status status);
/* The rest is for engines with a crew. After a turn of a block: tells the others, and stops if one
 * of them has stopped. */
void crew_publish(struct vm_engine *e);
/* The launch is long enough for the other threads; they begin. */
bool crew_is_worth_it(const struct vm_engine *e);
void crew_call_up(struct vm_engine *e);
void crew_pause(void); /* between two polls */
/* Nothing moves here at e->quiet_version: until it changes, or the launch has ended. */
void crew_wait(struct vm_engine *e, struct block **active, uint32_t count);

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
