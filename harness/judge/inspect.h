/* inspect: what a case costs line by line, and what its threads read and write, found out by one
 * more pass that is not judged. */
#ifndef JUDGE_INSPECT_H
#define JUDGE_INSPECT_H

#include "judge/case.h"

/* The case to look at: the one that was asked for; else for a trace the first public one, for a
 * profile the largest of the small ones. */
const char *inspect_choose(const struct work *work, const struct judge_options *options);

/* Fills in the result's profile and trace, or says why there are none. Leaves what was printed,
 * outcome and verdict as they are. -1 when something of ours failed. */
int inspect_case(struct case_run *r, struct err *e);

#endif
