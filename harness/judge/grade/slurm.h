/* slurm: the judgings of a class as one array of a Slurm cluster, a task for each chunk of them (a
 * task costs about 2 s), and a job after it that gathers what the tasks have.
 *
 *   RESULTS/slurm/<run>/job          the number of the array
 *   RESULTS/slurm/<run>/<k>.keys     what task k judges
 *   RESULTS/slurm/<run>/<k>/         the store of task k: one writer, so nothing is shared but
 * files RESULTS/slurm/<run>/task.sh, merge.sh, <k>.log, merge.log
 *
 * A task is `grade` with a results folder of its own; so one that was killed goes on where it was,
 * and whatever no task has is still missing for the next call. The folders have to be where the
 * nodes see them, under the same names. */
#ifndef JUDGE_GRADE_SLURM_H
#define JUDGE_GRADE_SLURM_H

#include "judge/grade/grade.h"

struct slurm_call {
    const char *judge;          /* the program, absolute */
    const char *from, *results; /* absolute */
    const char *const *words;   /* further words for `grade` in each task, NULL-terminated */
    const char *const *sbatch;  /* further words for sbatch, NULL-terminated */
    unsigned chunk;             /* judgings per task; 0 = as fits */
    unsigned workers;           /* processors of a task, and judgings at a time in it */
    bool on_gpu;                /* a task gets a card */
};

struct slurm_outcome {
    unsigned submitted, tasks; /* judgings, and in how many tasks */
    unsigned under_way;        /* missing, but of tasks that are in the queue or run */
    const char *array, *merge; /* numbers of the jobs; "" if none was needed */
    const char *folder;        /* of the run */
};

/* Submits what is missing and not under way. -1: sbatch refused, or is not there. */
int slurm_submit(const struct grade *g, const struct slurm_call *call, struct arena *arena,
                 struct slurm_outcome *outcome, struct err *e);

#endif
