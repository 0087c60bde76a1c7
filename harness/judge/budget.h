/* budget: the running time of a whole judging.
 *
 * Every pass has a limit of its own, but a submission that stays just below it in each pass of each
 * case would keep a judging busy for an hour. So the passes of all cases together have one, too
 * (`total` of limits.def). It is looked at between passes: one that has begun may end. Threads: all
 * workers of a judging add to one budget. */
#ifndef JUDGE_BUDGET_H
#define JUDGE_BUDGET_H

#include "judge/problem/problem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct budget {
    uint64_t limit_ns; /* 0 = none */
    atomic_uint_fast64_t spent_ns;
};

void budget_init(struct budget *b, const struct problem_limits *limits);
/* Of a NULL budget there is always something left. */
void budget_spend(struct budget *b, uint64_t ns);
bool budget_is_spent(struct budget *b);

#endif
