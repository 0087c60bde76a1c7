/* session: what the cases that one worker runs have in common: the boxes of the submission and of
 * the reference, and what was seen so far. One thread. */
#ifndef JUDGE_SESSION_H
#define JUDGE_SESSION_H

#include "judge/budget.h"
#include "judge/checker.h"
#include "judge/judge.h"
#include "judge/keeper.h"
#include "judge/pass.h"
#include "judge/work.h"

struct session {
    const struct judge_options *options;
    const struct problem *problem;
    const char *source;    /* as the caller named it */
    uint32_t checks;       /* enum wire_check bits */
    uint32_t host_threads; /* that a box may use */
    uint64_t seed;
    const char *sanitizer; /* compute-sanitizer; NULL = it is not wanted */
    const char *cpu_cudart;
    const char *profiler; /* ncu, on a card; the same */
    struct checker checker;
    const char *inspected; /* name of the case that is looked at line by line, NULL = none */
    struct keeper submission, reference;
    struct budget *budget;    /* shared by all workers; NULL = no limit on the whole */
    bool use_reference;       /* it gives the expected answers */
    bool block_order_seen;    /* warned about: not looked for again */
    bool needs_earlier_cases; /* a failure was seen that the case alone does not show */
    unsigned timed_out_cases, explained_cases;
    struct arena *arena; /* for what goes into results */
};

/* Runs every pass of one case and fills `result`, which is unfinished if the budget ran out before
 * that and nothing was found until then. -1 when something of ours failed. */
int session_run_case(struct session *s, struct prepared_case *c, struct result_case *result,
                     struct err *e);

/* The expected answers of one case from the reference's own run. -1 also when the reference fails:
 * then the problem is at fault, never the submission. */
int session_run_reference(struct session *s, struct prepared_case *c, struct err *e);

/* The request of a pass; `poison` numbers the contents of fresh memory. */
void session_configure(const struct session *s, const struct prepared_case *c, const struct pass *p,
                       unsigned poison, struct wire_request *request);

#endif
