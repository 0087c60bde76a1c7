/* workers: many judgings side by side, each in a process that is not ours: whatever a submission
 * makes of the judge that judges it, the others' judgings go on, and its own ends as a judge_error.
 *
 * A worker is forked from here, judges one job after the other and sends back what came of each. It
 * dies with us. (judge/verify/jobs.h has the same with threads, for a problem's own files, whose
 * results are wanted in memory.) The caller's thread does all the waiting; callbacks come from it.
 */
#ifndef JUDGE_GRADE_WORKERS_H
#define JUDGE_GRADE_WORKERS_H

#include "judge/judge.h"

struct workers_job {
    const char *problem_id, *source;
    uint64_t seed;
};

struct workers_call {
    const struct judge_paths *paths;
    const struct judge_options *options; /* for all; the seed is the job's */
    const struct workers_job *jobs;
    unsigned job_count, worker_count;
    /* In every new process, before anything else. May be NULL. */
    void (*in_child)(void *context);
    /* A job is done: a sentence about the result, and the result as JSON on one line. -1 with a
     * filled `e` ends everything. */
    int (*done)(void *context, unsigned job, const char *reason, const char *result, struct err *e);
    /* At least once a second. `running`: jobs that have begun. May be NULL. */
    void (*tick)(void *context, unsigned done, unsigned running);
    void *context;
};

/* Returns when all jobs are done. -1: `done` said so, or there can be no process at all. */
int workers_run(const struct workers_call *call, struct err *e);

#endif
