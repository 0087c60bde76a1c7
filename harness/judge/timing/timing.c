/* The plan: the data of all sizes, made by the pool in the order in which they are timed. Where
 * they would take more than a part of the memory together, each is made when its turn comes. */
#include "judge/timing/timing.h"

#include "base/hash.h"
#include "base/rng.h"
#include "judge/timing/plan.h"

#include <unistd.h>

const uint64_t TIMING_BUDGET_NS = 300000000, TIMING_ANSWER_ELEMENTS = 2 << 20;
const double TIMING_WANTED = 0.01, TIMING_LEVEL = 0.95;

enum { THREADS_MAX = 12, MEMORY_SHARE = 3 };

/* The judge's own thread waits for the card, and so does the driver's in the box. */
static unsigned thread_count(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 4                 ? 2
           : processors > THREADS_MAX + 3 ? THREADS_MAX
                                          : (unsigned)processors - 3;
}

static uint64_t memory_bytes(void)
{
    return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void set_defaults(struct timing_options *o)
{
    if (!o->seed)
        o->seed = rng_secret_seed();
    if (!o->budget_ns)
        o->budget_ns = TIMING_BUDGET_NS;
    if (!o->answer_elements)
        o->answer_elements = TIMING_ANSWER_ELEMENTS;
    if (!(o->wanted > 0))
        o->wanted = TIMING_WANTED;
    if (!o->rounds_min)
        o->rounds_min = TIMING_ROUNDS_MIN;
    if (!o->rounds_max)
        o->rounds_max = TIMING_ROUNDS_MAX;
    if (o->rounds_max < o->rounds_min)
        o->rounds_max = o->rounds_min;
}

struct timing_plan *timing_plan_new(const struct problem *problem,
                                    const struct timing_options *options, struct arena *arena,
                                    struct err *e)
{
    struct timing_plan *plan = arena_alloc(arena, sizeof *plan);
    *plan = (struct timing_plan){.problem = problem, .options = *options};
    struct timing_options *o = &plan->options;
    set_defaults(o);
    plan->size_count = o->sizes ? o->size_count : problem->benchmark_count;
    if (plan->size_count == 0) {
        err_set(e, "%s: benchmark: no sizes to time at", problem->file);
        return NULL;
    }
    if (!problem->oracle && !o->reference_answers) {
        err_set(e, "%s has no oracle: the expected answers have to come from its reference",
                problem->id);
        return NULL;
    }
    plan->sizes = arena_array(arena, plan->size_count, sizeof *plan->sizes);
    uint64_t all_bytes = 0;
    for (unsigned i = 0; i < plan->size_count; i++) {
        unsigned index = o->sizes ? o->sizes[i] : i;
        if (index >= problem->benchmark_count) {
            err_set(e, "%s: benchmark: there is no size %u", problem->file, index);
            return NULL;
        }
        if (data_init(&plan->sizes[i], problem, problem->benchmark[index],
                      hash_seed(o->seed, "timed data", index), o->answer_elements, arena, e) != 0)
            return NULL;
        all_bytes += plan->sizes[i].all_bytes;
    }
    plan->pool = pool_new(thread_count());
    plan->ahead = all_bytes < memory_bytes() / MEMORY_SHARE;
    for (unsigned i = 0; i < plan->size_count && plan->ahead; i++)
        data_make(&plan->sizes[i], plan->pool);
    return plan;
}

void timing_watch(struct timing_plan *plan,
                  void (*watch)(void *context, struct timing_clocks *clocks), void *context)
{
    plan->options.watch = watch;
    plan->options.watch_context = context;
}

const char *timing_spent(const struct timing *timing, struct arena *arena)
{
    static const char *const NAMES[TIMING_PHASES] = {"open", "make",  "load", "arm",
                                                     "go",   "fetch", "close"};
    const char *all = "";
    for (int k = 0; k < TIMING_PHASES; k++)
        all = arena_printf(arena, "%s%s%s %.0f", all, k ? ", " : "", NAMES[k], timing->spent_ms[k]);
    return all;
}

void timing_plan_free(struct timing_plan *plan)
{
    if (!plan)
        return;
    pool_free(plan->pool);
    for (unsigned i = 0; i < plan->size_count; i++)
        data_release(&plan->sizes[i]);
}
