/* answers: the expected answers of a problem's small cases, kept for whoever asks what else would
 * have been taken for right (trivial.h).
 *
 * They come from the serial oracle, or from one judging whose hook (judge_options.expected) is
 * answers_keep(); both name cases by their place in the problem. Larger cases are left out: they
 * would cost memory and tell nothing new. */
#ifndef JUDGE_ANSWERS_H
#define JUDGE_ANSWERS_H

#include "judge/problem/problem.h"

#include <pthread.h>

struct answers {
    pthread_mutex_t lock;
    struct arena arena;
    unsigned case_count;
    uint8_t ***kept; /* [case], NULL = not kept; [param], NULL = no output */
};

void answers_init(struct answers *a, const struct problem *p);
void answers_release(struct answers *a);

/* Keeps one case's, if it is small. `answers` is a struct answers; any thread. */
void answers_keep(void *answers, const struct case_data *data);

/* Those of all small cases by the problem's oracle. */
int answers_by_oracle(struct answers *a, const struct problem *p, uint64_t seed, struct err *e);

/* Makes the data of case `index` again, in `arena`, with the kept answers. false: none are kept. */
bool answers_case(const struct answers *a, const struct problem *p, unsigned index, uint64_t seed,
                  struct arena *arena, struct case_data *data);
/* The same without inputs: sizes, and the kept answers themselves. */
bool answers_sizes(const struct answers *a, const struct problem *p, unsigned index, uint64_t seed,
                   struct arena *arena, struct case_data *data);

#endif
