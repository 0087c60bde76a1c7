/* target: the compute capabilities that code is compiled for ("80" for 8.0). */
#ifndef JUDGE_PROBLEM_TARGET_H
#define JUDGE_PROBLEM_TARGET_H

const char *target_default(void);
/* The row's own spelling, NULL = there is no such target. */
const char *target_find(const char *text);
const char *targets_allowed(void); /* "75, 80, ..." */

#endif
