/* inspect: what a case costs line by line, found out by one more pass that is not judged. */
#ifndef JUDGE_INSPECT_H
#define JUDGE_INSPECT_H

#include "judge/case.h"

/* The case to look at: the one that was asked for, else the largest of the small ones, else the
 * smallest. */
const char *inspect_choose(const struct work *work, const struct judge_options *options);

/* Fills in the result's profile, or says why there is none. Leaves what was printed, outcome and
 * verdict as they are. -1 when something of ours failed. */
int inspect_case(struct case_run *r, struct err *e);

#endif
