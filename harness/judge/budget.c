#include "judge/budget.h"

#include "judge/pass.h"

/* A right submission takes a second or two for all cases, one that is slow by design ten. */
static const uint64_t TOTAL_NS = (uint64_t)60 * 1000000000;

void budget_init(struct budget *b, const struct problem_limits *limits)
{
    uint64_t one_case = limits->time_ns * PASS_COUNT;
    b->limit_ns = limits->total_ns ? limits->total_ns : one_case > TOTAL_NS ? one_case : TOTAL_NS;
    atomic_init(&b->spent_ns, 0);
}

void budget_spend(struct budget *b, uint64_t ns)
{
    if (b)
        atomic_fetch_add(&b->spent_ns, ns);
}

bool budget_is_spent(struct budget *b)
{
    return b && b->limit_ns && atomic_load(&b->spent_ns) >= b->limit_ns;
}
