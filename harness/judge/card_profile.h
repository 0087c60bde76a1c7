/* card_profile: what ncu says of one case on a card, beside what the CPU device counts for the same
 * binary and data. */
#ifndef JUDGE_CARD_PROFILE_H
#define JUDGE_CARD_PROFILE_H

#include "judge/case.h"

/* Fills result->card_profile, and result->counters with the CPU device's if that runs the case. -1
 * when ncu does not do its work: it was asked for. */
int card_profile_case(struct case_run *r, struct err *e);

#endif
