/* order: what comes before what on a device.
 *
 * Work runs in timelines: a stream is one, and so is each branch of a graph that runs. The n-th
 * operation of a timeline has index n. A stamp (a vector clock) says how many operations of each
 * timeline come before something, whatever order this device happens to run them in; an operation's
 * own stamp counts itself. The method is Lamport's happens-before, with vector clocks as in
 * Fidge and Mattern (1988).
 *
 * Everything here is under the runtime's lock. Out of memory is a BUG(). */
#ifndef CPU_CUDART_ORDER_H
#define CPU_CUDART_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct stamp {
    uint32_t *at; /* by timeline; those past `count` are 0 */
    uint32_t count;
};

static inline uint32_t stamp_at(const struct stamp *s, uint32_t timeline)
{
    return timeline < s->count ? s->at[timeline] : 0;
}
void stamp_release(struct stamp *s);
void stamp_raise(struct stamp *s, uint32_t timeline, uint32_t index); /* to at least `index` */
void stamp_join(struct stamp *s, const struct stamp *with);           /* the later of both */
void stamp_copy(struct stamp *to, const struct stamp *from);

/* ---- for the machine's race detector: operations by the number that it gave them ---- */

/* The operation (timeline, index) with this stamp starts to touch memory. `what` names it for
 * people. Operations of one timeline begin in the order of their indexes. */
void order_begin(const struct stamp *stamp, uint32_t timeline, uint32_t index, const char *what);
/* Nothing is queued, and `host` comes before all that is to come: forgets what it covers. */
void order_forget(const struct stamp *host);

#endif
