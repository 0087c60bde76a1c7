/* timed: what a judging does about timing: when, against whom, and what of it the result says.
 *
 * Only an accepted submission is timed, on a card that nobody else uses, at all sizes of the
 * problem's benchmark. A timed call that fails decides the verdict like a case that fails; a time
 * that is in doubt never does. */
#ifndef JUDGE_TIMED_H
#define JUDGE_TIMED_H

#include "judge/judge.h"
#include "judge/timing/timing.h"

/* Will this judging be timed, should the submission be accepted? */
bool timed_is_wanted(const struct judge_options *options, const struct problem *problem);

/* Starts making the data. -1: the spec is wrong. */
int timed_begin(const struct judge_options *options, const struct problem *problem, uint64_t seed,
                bool reference_answers, struct arena *arena, struct timing_plan **plan,
                struct err *e);

/* Times, and fills result's timing; may add a failing case. `reference` NULL: the problem has none.
 * `nvml` as for nvml_open(); `card`: UUID, NULL = not a card. -1 when something of ours failed. */
int timed_finish(struct timing_plan *plan, const struct judge_options *options,
                 const struct problem *problem, const struct run_spec *submission,
                 const struct run_spec *reference, const char *nvml, const char *card,
                 struct arena *arena, struct result *result, struct err *e);

#endif
