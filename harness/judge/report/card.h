/* card: what a card's profiler says, as a table beside the CPU device's counters. */
#ifndef JUDGE_REPORT_CARD_H
#define JUDGE_REPORT_CARD_H

#include "base/text.h"
#include "judge/report/result.h"

/* The case has a card_profile. */
void report_card_profile(const struct result_case *c, struct text *out);

#endif
