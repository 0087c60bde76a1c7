/* near: beside each public case a hidden one, whose size is near it and known to nobody beforehand.
 *
 * Public sizes can be told apart in a submission; those drawn from the secret seed of a judging
 * cannot. Which they are follows from the spec and the seed alone, so --seed draws them again. */
#ifndef JUDGE_NEAR_H
#define JUDGE_NEAR_H

#include "judge/problem/problem.h"

/* What the name of such a case begins with: "near n=1025, n=1019". */
extern const char NEAR_PREFIX[];

/* Appends them to the cases of `p`. A public case has none if it is larger than SIZE_NEAR, if no
 * variable may change, or if no case has generators that serve the sizes around it. */
void near_add(struct problem *p, uint64_t seed, struct arena *arena);

#endif
