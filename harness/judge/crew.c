#include "judge/crew.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum {
    WORKERS_MAX = 2,
    TIMED_OUT_CASES_MAX = 2,
    /* Cases that cost their process, on a card: the next one needs a context again, 0.3 s, and a
     * hundred such cases would be half a minute that tells nothing new. */
    ENDED_CASES_MAX = 8,
};
/* Below this a second process costs more than it saves. */
static const uint64_t SECOND_WORKER_BYTES = (uint64_t)8 << 20;

struct crew {
    struct work *work;
    struct result_case *results; /* [work->count] */
    bool *was_run;               /* [work->count] */
    atomic_uint timed_out, ended;
    const struct judge_options *options;
    struct budget budget;
    pthread_mutex_t progress; /* of the two below */
    unsigned done;
    const char *running[WORKERS_MAX]; /* the case of each worker, NULL = none */
};

struct worker {
    struct crew *crew;
    struct session session;
    struct arena arena; /* the second one's; the first uses the result's */
    enum work_side side;
    int status;
    struct err error;
    pthread_t thread;
};

static int run_case(struct worker *w, struct prepared_case *c, struct result_case *result)
{
    if (c->status != 0) {
        w->error = c->error;
        return -1;
    }
    const struct judge_options *o = w->crew->options;
    if (w->session.use_reference && !c->data.instance->answers &&
        session_run_reference(&w->session, c, &w->error) != 0)
        return -1;
    if (o->expected)
        o->expected(o->expected_context, &c->data);
    return session_run_case(&w->session, c, result, &w->error);
}

/* The worker begins a case, or (name NULL) has ended one: then what the other one still runs is
 * shown. */
static void show_progress(const struct worker *w, const char *name)
{
    struct crew *crew = w->crew;
    const struct judge_options *o = crew->options;
    pthread_mutex_lock(&crew->progress);
    crew->done += !name;
    crew->running[w->side] = name;
    for (unsigned k = 0; k < WORKERS_MAX && !name; k++)
        name = crew->running[k];
    if (o->progress && name)
        o->progress(o->progress_context, name, crew->done, crew->work->count);
    pthread_mutex_unlock(&crew->progress);
}

/* After this case: is there a reason to leave the others out? */
static bool is_enough(const struct worker *w, const struct result_case *result, unsigned late)
{
    struct crew *crew = w->crew;
    const struct judge_options *o = crew->options;
    bool failed = result->verdict != VERDICT_accepted;
    if (failed && o->on_gpu && !w->session.submission.is_open)
        atomic_fetch_add(&crew->ended, 1);
    if (late)
        atomic_fetch_add(&crew->timed_out, late);
    if (failed && o->first_failure)
        return true;
    return !o->all_cases &&
           (atomic_load(&crew->ended) >= ENDED_CASES_MAX ||
            atomic_load(&crew->timed_out) >= TIMED_OUT_CASES_MAX || budget_is_spent(&crew->budget));
}

/* A case is given back once the next one is taken: after the last one, the boxes and our memory are
 * taken down at the same time. */
static void *work_off(void *context)
{
    struct worker *w = context;
    struct crew *crew = w->crew;
    struct prepared_case *c;
    unsigned i, previous = crew->work->count;
    while ((c = work_take(crew->work, w->side, &i)) != NULL) {
        if (previous < crew->work->count)
            work_done(crew->work, previous);
        previous = i;
        unsigned before = w->session.timed_out_cases;
        show_progress(w, c->data.instance->name);
        w->status = run_case(w, c, &crew->results[i]);
        crew->was_run[i] = w->status == 0;
        show_progress(w, NULL);
        if (w->status != 0 || is_enough(w, &crew->results[i], w->session.timed_out_cases - before))
            work_cancel(crew->work);
    }
    keeper_dismiss(&w->session.submission);
    keeper_dismiss(&w->session.reference);
    if (previous < crew->work->count)
        work_done(crew->work, previous);
    keeper_close(&w->session.submission);
    keeper_close(&w->session.reference);
    return NULL;
}

static void worker_init(struct worker *w, struct crew *crew, const struct session *pattern,
                        enum work_side side)
{
    *w = (struct worker){.crew = crew, .session = *pattern, .side = side};
    w->session.budget = pattern->options->all_cases ? NULL : &crew->budget;
    arena_init(&w->arena);
    if (side == WORK_LARGE_FIRST)
        w->session.arena = &w->arena;
}

static bool wants_second_worker(const struct session *pattern, const struct work *work)
{
    return !pattern->options->on_gpu && work->count > 1 && work->large_count > 0 &&
           work->items[work->by_size[0]].c.bytes >= SECOND_WORKER_BYTES &&
           sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

/* ---- results: gathered in the order of the spec, in one arena ---- */

static const char *copied(struct arena *arena, const char *s)
{
    return s ? arena_strdup(arena, s) : NULL;
}

/* Names and schedules are constants or belong to the problem. */
static void adopt_case(struct result_case *r, struct arena *arena)
{
    struct wire_finding *findings = r->findings;
    if (findings) {
        r->findings = arena_array(arena, r->finding_count, sizeof *findings);
        memcpy(r->findings, findings, r->finding_count * sizeof *findings);
    }
    r->mismatch.output = copied(arena, r->mismatch.output);
    r->mismatch.expected = copied(arena, r->mismatch.expected);
    r->mismatch.got = copied(arena, r->mismatch.got);
    r->diagnosis = copied(arena, r->diagnosis);
    if (r->trace) {
        size_t bytes = sizeof *r->trace + r->trace->record_count * sizeof r->trace->records[0];
        struct wire_trace *t = arena_alloc(arena, bytes);
        memcpy(t, r->trace, bytes);
        r->trace = t;
    }
    if (r->profile) {
        struct wire_profile *p = arena_alloc(arena, sizeof *p);
        memcpy(p, r->profile, sizeof *p);
        r->profile = p;
    }
    r->reproduce = copied(arena, r->reproduce);
    r->stdout_text = copied(arena, r->stdout_text);
    r->stderr_text = copied(arena, r->stderr_text);
}

/* Why some cases have no verdict, and what to do to see theirs. */
static const char *why_left_out(struct crew *crew, const struct result *r, struct arena *arena)
{
    unsigned left_out = r->not_judged_count, ended = atomic_load(&crew->ended);
    const char *were = left_out == 1 ? "was" : "were";
    if (crew->options->first_failure)
        return arena_printf(arena, "%u case%s after the first failing one %s not run", left_out,
                            left_out == 1 ? "" : "s", were);
    if (ended >= ENDED_CASES_MAX)
        return arena_printf(arena,
                            "%u cases ended their process, as a fault on a card does; %u of the "
                            "others %s not run (--all-cases runs them)",
                            ended, left_out, were);
    if (!budget_is_spent(&crew->budget))
        return arena_printf(arena,
                            "%u cases ran out of time; %u of the others %s not run (--all-cases "
                            "runs them)",
                            atomic_load(&crew->timed_out), left_out, were);
    const struct result_case *slowest = &crew->results[0];
    for (unsigned i = 1; i < crew->work->count; i++)
        if (crew->results[i].ms > slowest->ms)
            slowest = &crew->results[i];
    return arena_printf(
        arena,
        "all cases together may run for %.3g s: after that, %u of %u %s not judged. "
        "The slowest, '%s', took %.3g s in %u pass%s (--all-cases judges all of "
        "them, --case NAME one)",
        (double)crew->budget.limit_ns / 1e9, left_out, crew->work->count, were, slowest->name,
        slowest->ms / 1e3, slowest->passes, slowest->passes == 1 ? "" : "es");
}

static void gather(struct crew *crew, struct arena *arena, struct result *result)
{
    result->cases = crew->results;
    result->verdict = VERDICT_accepted;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    result->not_judged = arena_array(arena, crew->work->count, sizeof result->not_judged[0]);
    for (unsigned i = 0; i < crew->work->count; i++)
        if (!crew->was_run[i] || crew->results[i].unfinished)
            result->not_judged[result->not_judged_count++] =
                crew->work->items[i].c.data.instance->name;
    if (result->not_judged_count)
        result->message = why_left_out(crew, result, arena);
    for (unsigned i = 0; i < crew->work->count; i++) {
        if (!crew->was_run[i] || crew->results[i].unfinished)
            continue;
        struct result_case *r = &result->cases[result->case_count++];
        *r = crew->results[i];
        adopt_case(r, arena);
        if (result->verdict == VERDICT_accepted)
            result->verdict = r->verdict;
    }
    /* Nothing is wrong in what was judged, but that was not everything. */
    if (result->not_judged_count && result->verdict == VERDICT_accepted)
        result->verdict = VERDICT_time_limit_exceeded;
}

int crew_run(const struct session *pattern, struct work *work, struct result *result, struct err *e)
{
    struct arena *arena = pattern->arena;
    struct crew *crew = arena_alloc(arena, sizeof *crew);
    struct worker *workers = arena_array(arena, WORKERS_MAX, sizeof *workers);
    crew->work = work;
    crew->options = pattern->options;
    budget_init(&crew->budget, &pattern->problem->limits);
    pthread_mutex_init(&crew->progress, NULL);
    crew->results = arena_array(arena, work->count, sizeof *crew->results);
    crew->was_run = arena_array(arena, work->count, sizeof *crew->was_run);
    worker_init(&workers[0], crew, pattern, WORK_SMALL_FIRST);
    worker_init(&workers[1], crew, pattern, WORK_LARGE_FIRST);
    bool two = wants_second_worker(pattern, work) &&
               pthread_create(&workers[1].thread, NULL, work_off, &workers[1]) == 0;
    work_off(&workers[0]);
    if (two)
        pthread_join(workers[1].thread, NULL);
    int status = 0;
    for (unsigned k = 0; k < WORKERS_MAX && status == 0; k++)
        if (workers[k].status != 0) {
            *e = workers[k].error;
            status = -1;
        }
    if (status == 0)
        gather(crew, arena, result);
    pthread_mutex_destroy(&crew->progress);
    arena_release(&workers[1].arena);
    return status;
}
