/* traces: what a judging may leave behind on a machine.
 *
 * Processes: the test is the reaper of everything that its children leave, so a process that
 * outlives its judge becomes a child of the test, and there is no mistaking it for somebody else's.
 * Mounts and control groups of judges are compared with those before. Attacks name every file and
 * segment they make so that they are found (sj_attack..., TRACES_KEY). Graphics memory, where there
 * is a card that nobody else uses: what nvidia-smi says is in use. */
#ifndef ATTACK_TRACES_H
#define ATTACK_TRACES_H

#include "base/text.h"

#include <stdbool.h>

enum { TRACES_KEY = 0x5ca9a77a }; /* of segments, in the attacks */

struct traces {
    const char *folder; /* of this test: tmp/ below it has what the judge keeps for a while */
    const char *cache;  /* of compiled submissions */
    struct text before;
    bool on_card;           /* look at graphics memory, too */
    unsigned long card_mib; /* in use, on all cards */
};

/* Once, before anything is started. `on_card`: what is judged has one, and nobody else uses it. */
void traces_init(struct traces *t, const char *folder, const char *cache, bool on_card);
void traces_release(struct traces *t);

/* What is there now and was not before is appended to `why`, a line each; then it is removed, so
 * that the next test does not find it again. What is about to go is given two seconds. */
void traces_look(struct traces *t, struct text *why);

/* Why graphics memory is not looked at; NULL if it is. */
const char *traces_no_card(void);

#endif
