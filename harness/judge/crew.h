/* crew: one or two workers that take a judging's cases through boxes of their own.
 *
 * Two, where there are two cores and enough large data to keep the second one busy: the largest
 * case runs beside all the small ones. Each worker has its own processes of the submission (and of
 * the reference), so that nothing passes between them. */
#ifndef JUDGE_CREW_H
#define JUDGE_CREW_H

#include "judge/report/result.h"
#include "judge/session.h"

/* Runs every case of `work` and fills result's cases, verdict and message. `pattern` is a session
 * without boxes; its arena owns what the result points to. Once the budget is
 * spent, after two cases that ran out of time, or after eight that ended their process on a card,
 * the rest is not run unless options->all_cases: `not_judged` has their names, and the message says
 * so. -1 when something of ours failed. */
int crew_run(const struct session *pattern, struct work *work, struct result *result,
             struct err *e);

#endif
