/* ring: where attacks are judged: a folder of the test's own with a secret in it, sockets where it
 * listens, and the judge with a chosen isolation, as a chosen user. What the tests of this folder
 * share; nothing of the judge is linked in. */
#ifndef ATTACK_RING_H
#define ATTACK_RING_H

#include "e2e.h"
#include "source.h"
#include "traces.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { RING_PATH = 512, RING_HONEST_MAX = 16 };

struct ring {
    const char *tier;          /* that every judging must have; NULL = whichever there is */
    bool on_card;              /* judged with --device gpu, as far as that goes */
    const char *const *before; /* words in front of the judge: who runs it; NULL = as we are */
    struct places places;
    struct traces traces;
    char folder[RING_PATH], cache[RING_PATH], socket_name[64];
    int sockets[2]; /* where we listen */
    struct arena arena;
    struct attack honest[RING_HONEST_MAX];
    const char *honest_files[RING_HONEST_MAX];
    unsigned honest_count;
    atomic_uint honest_judged;
};

/* Reads [--tier NAME] [--finds NAME] [--as-nobody] [--card], the isolation that the judge is told
 * to have and the one that it must find by itself, and gives the index of the argument behind them.
 * Ends the program with E2E_SKIPPED and a reason where there is no nvcc, no such tier, no such
 * user. */
int ring_open(struct ring *ring, int argc, char **argv);
/* Checks once more that nothing is left, and removes the folder. */
void ring_close(struct ring *ring);

/* Writes a submission into the folder; its path, or NULL. */
const char *ring_put(const struct ring *ring, const char *name, const char *text,
                     struct arena *arena, struct err *e);

/* `run PROBLEM FILE --format json` and more words; the caller releases `run`. From any thread. */
void ring_judge(const struct ring *ring, const char *problem, const char *file, const char *options,
                struct e2e_run *run);

/* Was that judging isolated as it was to be? Appends to `why` if not. */
void ring_check_tier(const struct ring *ring, const struct e2e_run *run, struct text *why);

/* The next honest submission; appends to `why` unless it gets its verdict. From any thread. */
void ring_judge_honest(struct ring *ring, struct text *why);

#endif
