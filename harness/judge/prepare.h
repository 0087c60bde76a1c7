/* prepare: the cases' data and expected answers, made by a thread while the submission compiles and
 * while earlier cases run.
 *
 * Cases come in order; the thread stays at most PREPARE_AHEAD_BYTES ahead of the one being judged.
 * Inputs are generated right into the region that the box will read; expected answers are in memory
 * of ours that no other process sees; the outputs region is there too, its pages made in advance.
 * preparation_take() and _give_back() belong to one thread. */
#ifndef JUDGE_PREPARE_H
#define JUDGE_PREPARE_H

#include "judge/problem/problem.h"
#include "judge/run/run.h"

#include <pthread.h>

struct prepared_case {
    struct case_data data;
    struct wire_request request; /* without device and poison */
    struct run_region inputs, outputs;
    void *answers; /* all `expected` buffers */
    uint64_t answer_bytes;
    uint64_t bytes;     /* inputs, outputs and answers together */
    int status;         /* 0, or -1 with `error` */
    bool spec_is_wrong; /* status -1 because of the spec, not because of us */
    struct err error;
    struct arena arena;
};

struct preparation {
    const struct problem *problem;
    const struct problem_case *const *cases;
    unsigned count;
    uint64_t seed;
    bool use_oracle;
    struct prepared_case *prepared; /* [count] */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned ready; /* cases made so far */
    unsigned given_back;
    uint64_t ahead_bytes; /* made and not given back */
    bool cancelled;
};

/* Starts the thread; `cases` must outlive it. use_oracle: fill the expected answers (else they stay
 * zero, and the reference gives them). */
int preparation_start(struct preparation *p, const struct problem *problem,
                      const struct problem_case *const *cases, unsigned count, uint64_t seed,
                      bool use_oracle, struct arena *arena, struct err *e);
/* Waits for case `index`; cases are taken in order and each is given back before the end. */
struct prepared_case *preparation_take(struct preparation *p, unsigned index);
void preparation_give_back(struct preparation *p, unsigned index);
/* Ends the thread and frees everything that was not given back. */
void preparation_stop(struct preparation *p);

#endif
