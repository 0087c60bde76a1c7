/* costs: what a problem allows its solutions to cost, against what the device counted. */
#ifndef JUDGE_COSTS_H
#define JUDGE_COSTS_H

#include "judge/problem/problem.h"

/* Does the spec limit anything in this case? */
bool costs_apply(const struct problem *p, const char *case_name);
/* What the device must count for it beyond what it always does: enum wire_check bits. */
uint32_t costs_checks(const struct problem *p, const char *case_name);

/* NULL if every limit is kept; else a sentence, on a line of its own, about each that is not. */
const char *costs_exceeded(const struct case_data *data, const struct wire_counters *counters,
                           struct arena *arena);

#endif
