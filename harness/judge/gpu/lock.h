/* lock: one judging at a time per card, across the processes of all users.
 *
 * A flock() on a file named after the card's UUID, in the first folder of this machine in which
 * everybody may make files: the same one for everybody. The kernel takes the lock back when its
 * holder ends, however that ends. Processes that do not see that folder (other containers) are not
 * held off. */
#ifndef JUDGE_GPU_LOCK_H
#define JUDGE_GPU_LOCK_H

#include "base/arena.h"
#include "base/err.h"
#include "judge/gpu/cards.h"

struct card_lock {
    int fd; /* -1 = none is held */
    const struct card *card;
};

/* Takes the first of the cards that is free, the first of the list if several are. With none free
 * it calls `waiting` (may be NULL) once with a sentence that says who holds them, and waits.
 * `folder`: NULL = the usual one. -1 only if no lock can be made at all. */
int card_lock_take(const struct cards *cards, const char *folder, struct arena *arena,
                   void (*waiting)(void *context, const char *sentence), void *context,
                   struct card_lock *lock, struct err *e);
void card_lock_release(struct card_lock *lock); /* once more does nothing */

/* The folder that is used, NULL if this machine has none that is good for it. */
const char *card_lock_folder(void);

#endif
