/* tool_run: one more run of a case on a card, with one of NVIDIA's tools around the runner. */
#ifndef JUDGE_TOOL_RUN_H
#define JUDGE_TOOL_RUN_H

#include "judge/case.h"

/* `before`: the tool and its options, NULL-terminated; `bare` as in struct wire_request. What comes
 * back of the run is not judged. Ends tool and runner in peace, so that the tool can write its
 * report. -1 if the tool could not be started. */
int tool_run(struct case_run *r, const char *const *before, bool bare, struct run_outcome *outcome,
             struct err *e);

/* The report that it left at `path`, at most 8 MiB. -1 with what the run gave instead. */
int tool_report(const char *path, const char *tool, const struct run_outcome *outcome,
                struct text *report, struct err *e);

#endif
