/* jobs: many judgings of one problem, some side by side; nvcc is what they wait for.
 *
 * Whoever asked gets each result in the order of the list, in its own thread, as soon as it and
 * all before it are there. A result lives until that call returns: keep what you need of it. */
#ifndef JUDGE_VERIFY_JOBS_H
#define JUDGE_VERIFY_JOBS_H

#include "judge/judge.h"

enum { JOBS_WORKERS_MAX = 64 };

struct job {
    const char *source; /* path of the .cu file */
    const struct judge_options *options;
    const char *shown; /* for progress and messages */
    void *about;       /* the caller's */
    /* Filled: what judge_submission() gave. */
    int status;
    struct err error;
    struct result result;
    struct arena arena;
};

/* false: no job is begun any more, and those that run are only waited for. */
typedef bool job_done(void *context, const struct job *job);

/* `progress` (may be NULL) is called from the caller's thread when it begins to wait for a job. */
void jobs_run(const struct judge_paths *paths, const char *problem_id, struct job *jobs,
              unsigned count, unsigned workers, job_done *done, void *context,
              void (*progress)(void *unused, const char *what, unsigned done, unsigned total));

#endif
