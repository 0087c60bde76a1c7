/* verdict: what one pass means.
 *
 * The order in which faults speak: what stopped the run (a fatal finding, a crash, a limit), then a
 * wrong answer, then findings of severity error beside a right answer. Warnings never fail. */
#ifndef JUDGE_VERDICT_H
#define JUDGE_VERDICT_H

#include "judge/check/check.h"
#include "judge/run/run.h"

enum { VERDICT_FINDINGS_MAX = WIRE_FINDINGS_MAX + CHECK_FINDINGS_MAX + 1 };

struct pass_verdict {
    enum verdict verdict;
    bool timed_out;    /* the time limit itself was used up */
    bool hung;         /* never would have finished: a deadlock, a step limit or a time-out */
    bool is_our_fault; /* verdict judge_error: `message` */
    const char *message;
    struct check_result check; /* meaningful when the call finished */
    struct wire_finding findings[VERDICT_FINDINGS_MAX];
    unsigned finding_count;
};

/* `outputs` is looked at only when the outcome is a finished call. Strings live in `arena`. */
void verdict_of_pass(const struct case_data *data, const struct wire_request *request,
                     const struct run_outcome *outcome, const uint8_t *outputs, struct arena *arena,
                     struct pass_verdict *v);

/* The first finding of this kind; NULL if there is none. */
const struct wire_finding *verdict_finding(const struct pass_verdict *v, enum finding_kind kind);

#endif
