/* case: one case while its passes run; shared by case.c, which runs and judges them, and explain.c,
 * which runs some of them again to find out what a failure depends on. */
#ifndef JUDGE_CASE_H
#define JUDGE_CASE_H

#include "judge/pass.h"
#include "judge/session.h"
#include "judge/verdict.h"

struct case_run {
    struct session *s;
    struct prepared_case *c;
    struct run_region *outputs;
    struct result_case *result;
    struct text out, errors;
    struct run_outcome outcome;  /* of the latest pass */
    struct pass_verdict verdict; /* the same */
    bool had_earlier_passes;     /* the box has run other cases before this one */
    uint64_t accepted_outputs;   /* hash of those that the problem's checker accepted; 0 = none */
};

/* One pass: outcome and verdict are filled. -1 when something of ours failed. */
int case_run_pass(struct case_run *r, const struct wire_request *request, struct err *e);

/* Adds one unless it is there already, or there are too many. */
void case_add_finding(struct case_run *r, const struct wire_finding *f);

/* The latest pass ran out of time, or hung and was not found out before it had taken much of it:
 * neither is done again to see why. */
bool case_is_slow_hang(const struct case_run *r);

/* Does this case get the row of passes.def? */
bool case_gets_pass(const struct case_run *r, const struct pass *p);

/* What more runs tell about the failure of pass `failed`, a sentence or NULL. Leaves outcome and
 * verdict, and what was printed, as they are. */
int case_explain(struct case_run *r, const struct pass *failed, const char **why, struct err *e);

#endif
