/* target: the compute capabilities that code is compiled for ("80" for 8.0). */
#ifndef JUDGE_PROBLEM_TARGET_H
#define JUDGE_PROBLEM_TARGET_H

const char *target_default(void);
/* The row's own spelling, NULL = there is no such target. */
const char *target_find(const char *text);
/* What to compile for a card of this compute capability (90 for 9.0) when the code needs at least
 * `least`: the highest target that it runs. NULL: the card is too old. */
const char *target_for_card(const char *least, unsigned capability);
const char *targets_allowed(void); /* "75, 80, ..." */

#endif
