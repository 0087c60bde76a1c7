/* delay: stores that other threads see late (wire_device_config.delay_stores). Private to cpu/vm.
 *
 * A plain store to global memory stays in a buffer. Its own thread reads through it; the other
 * threads of the block do once something has published it to them: a *.sync of the warp, a
 * barrier, a fence or a release of any scope, the thread's end. Other blocks see it when it is
 * drained to memory: by a fence or a release of device or system scope of a thread that it was
 * published to, by the launch's end, and at random before that, in any order, except that stores to
 * the same bytes keep theirs. Volatile, relaxed and atomic accesses go to memory at once: they may
 * overtake earlier plain stores of their own thread, as they may on a GPU, but not those to the
 * same bytes.
 *
 * Every drain is allowed at any time, so that draining more than a fence asks for does no harm.
 * Needs fine code (lower_fine.c), whose `publish` instructions come before what publishes. */
#ifndef CPU_VM_DELAY_H
#define CPU_VM_DELAY_H

#include "cpu/vm/engine.h"

enum delay_scope { DELAY_BLOCK = 1, DELAY_DEVICE };

/* For a launch: engine->delay is set, or NULL when stores are seen at once. */
void delay_start(struct vm_engine *e);
void delay_free(struct vm_delay *d);
/* All that waits goes to memory. true: there was something. */
bool delay_drain_all(struct vm_engine *e);
/* One of it does, if there is any. */
void delay_drain_one(struct vm_engine *e);
/* After a turn: some of it may. */
void delay_tick(struct vm_engine *e);
/* A block has ended: what it stored is nobody's any more, and still late. */
void delay_retire(struct block *b);

/* One lane accesses global memory with a load or store: where its bytes are. A store may be told
 * w->bounce; it calls delay_put() when they are there. */
uint8_t *delay_reach(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                     uint8_t *host);
void delay_put(struct warp *w, const struct mem_op *op, unsigned lane);
/* The lane is about to access these bytes of memory itself. */
void delay_settle(struct warp *w, unsigned lane, uint64_t address, unsigned bytes);
/* What the lanes in m have stored is published. */
void delay_publish(struct warp *w, uint32_t m, enum delay_scope scope);

#endif
