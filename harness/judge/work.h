/* work: the cases of one judging, who prepares them and who runs them.
 *
 * A thread prepares cases (data, expected answers, both regions) while the submission compiles, the
 * largest first, at most WORK_AHEAD_BYTES ahead. Up to two workers then take cases: one the small
 * ones in order, the other the large ones from the largest down; whoever runs out helps the other.
 * A case that is not prepared yet is prepared by the worker that takes it. Which worker runs a
 * case, and when, changes nothing about its result.
 *
 * Inputs are generated right into the region that the box will read; expected answers are in memory
 * of ours that no other process sees. */
#ifndef JUDGE_WORK_H
#define JUDGE_WORK_H

#include "judge/problem/problem.h"
#include "judge/run/run.h"

#include <pthread.h>

struct prepared_case {
    struct case_data data;
    struct wire_request request; /* without device and poison */
    struct run_region inputs, outputs;
    void *answers; /* all `expected` buffers */
    uint64_t answer_bytes;
    uint64_t bytes; /* inputs, outputs and answers together */
    int status;     /* 0, or -1 with `error`: something of ours failed */
    struct err error;
    struct arena arena;
};

enum case_state { CASE_NEW, CASE_PREPARING, CASE_READY, CASE_TAKEN, CASE_DONE };

struct work_item {
    struct prepared_case c;
    enum case_state state;
};

enum work_side { WORK_SMALL_FIRST, WORK_LARGE_FIRST };

struct work {
    struct work_item *items; /* [count], in the order of the spec */
    unsigned *by_size;       /* indices, largest first */
    unsigned count;
    unsigned large_count; /* how many of by_size are large: more than one schedule is too much */
    bool use_oracle;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t ahead_bytes; /* prepared and not yet done with */
    bool cancelled;
};

/* Evaluates the sizes of all cases; -1 when the spec is wrong about one. use_oracle: fill the
 * expected answers (else they stay zero, and the reference gives them). */
int work_init(struct work *w, const struct problem *problem,
              const struct problem_case *const *cases, unsigned count, uint64_t seed,
              bool use_oracle, struct arena *arena, struct err *e);
/* Starts the preparing thread. Without threads the workers prepare everything. */
void work_start(struct work *w);
/* The next case for a worker, prepared; NULL when there is none left, or after work_cancel(). The
 * caller looks at its status, and ends with work_done(). */
struct prepared_case *work_take(struct work *w, enum work_side side, unsigned *index);
void work_done(struct work *w, unsigned index);
/* No case is handed out any more. */
void work_cancel(struct work *w);
/* Cancels, ends the thread and frees everything. After work_init(), whatever it returned. */
void work_release(struct work *w);

/* Small enough to be run under every schedule. */
bool work_is_small(const struct prepared_case *c);

#endif
