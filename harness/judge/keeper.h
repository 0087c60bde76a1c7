/* keeper: one submission's box, kept alive from pass to pass and replaced when it is dead.
 *
 * A crash, a time-out or a sticky CUDA error costs the box, so that what one case did cannot decide
 * the next one. (Our own device forgets a fault, where the submission keeps no memory there.) The
 * reference has a keeper of its own: it never shares a process with a submission. */
#ifndef JUDGE_KEEPER_H
#define JUDGE_KEEPER_H

#include "judge/run/run.h"

struct keeper {
    struct run_spec spec;
    struct run_box box;
    bool is_open;
    size_t out_seen, errors_seen; /* what the box printed before the current pass */
    unsigned passes;              /* that this box has answered */
    unsigned passes_before_case;  /* of those, before the current case */
};

/* What was printed so far no longer counts: the limit on output is one per case, so that a case
 * alone ends as it does after others. */
void keeper_begin_case(struct keeper *k);

/* One pass. 0 and `outcome` tells what happened, also when the box could not load the submission;
 * `out` and `errors` get what it printed meanwhile. -1 when we failed. */
int keeper_pass(struct keeper *k, const struct wire_request *request, const int fds[2],
                uint64_t limit_ns, struct run_outcome *outcome, struct text *out,
                struct text *errors, struct err *e);

/* Lets the box end by itself, without waiting for it: giving back a large case's memory takes as
 * long as a small case. No pass after this; keeper_close() is still due. */
void keeper_dismiss(struct keeper *k);

void keeper_close(struct keeper *k);

#endif
