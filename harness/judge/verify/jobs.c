#include "judge/verify/jobs.h"

#include <pthread.h>

enum { WORKERS_MAX = JOBS_WORKERS_MAX };

struct crew_of_jobs {
    const struct judge_paths *paths;
    const char *problem_id;
    struct job *jobs;
    bool *ready;
    unsigned count, next;
    bool cancelled;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* The next job that nobody has, or `count`. Holds the lock. */
static unsigned take(struct crew_of_jobs *c)
{
    return c->cancelled || c->next == c->count ? c->count : c->next++;
}

static void judge_one(struct crew_of_jobs *c, unsigned i)
{
    struct job *job = &c->jobs[i];
    arena_init(&job->arena);
    job->status = judge_submission(c->paths, c->problem_id, job->source, job->options, &job->arena,
                                   &job->result, &job->error);
    pthread_mutex_lock(&c->lock);
    c->ready[i] = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *context)
{
    struct crew_of_jobs *c = context;
    for (;;) {
        pthread_mutex_lock(&c->lock);
        unsigned i = take(c);
        pthread_mutex_unlock(&c->lock);
        if (i == c->count)
            return NULL;
        judge_one(c, i);
    }
}

/* Waits for job i. false: it was never begun. Without any worker it is done here. */
static bool wait_for(struct crew_of_jobs *c, unsigned i, unsigned workers)
{
    if (workers == 0 && !c->cancelled)
        judge_one(c, i);
    pthread_mutex_lock(&c->lock);
    while (!c->ready[i] && !(c->cancelled && i >= c->next))
        pthread_cond_wait(&c->changed, &c->lock);
    bool is_ready = c->ready[i];
    pthread_mutex_unlock(&c->lock);
    return is_ready;
}

void jobs_run(const struct judge_paths *paths, const char *problem_id, struct job *jobs,
              unsigned count, unsigned workers, job_done *done, void *context,
              void (*progress)(void *unused, const char *what, unsigned done, unsigned total))
{
    struct arena arena;
    pthread_t threads[WORKERS_MAX];
    unsigned running = 0;
    arena_init(&arena);
    struct crew_of_jobs c = {
        .paths = paths, .problem_id = problem_id, .jobs = jobs, .count = count};
    c.ready = arena_array(&arena, count + 1, sizeof *c.ready);
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    workers = workers < count ? workers : count;
    while (running < workers && running < WORKERS_MAX &&
           pthread_create(&threads[running], NULL, work, &c) == 0)
        running++;
    for (unsigned i = 0; i < count; i++) {
        if (progress && !c.cancelled)
            progress(NULL, jobs[i].shown, i, count);
        if (!wait_for(&c, i, running))
            continue;
        if (!c.cancelled && !done(context, &jobs[i])) {
            pthread_mutex_lock(&c.lock);
            c.cancelled = true;
            pthread_mutex_unlock(&c.lock);
        }
        arena_release(&jobs[i].arena);
    }
    for (unsigned k = 0; k < running; k++)
        pthread_join(threads[k], NULL);
    pthread_cond_destroy(&c.changed);
    pthread_mutex_destroy(&c.lock);
    arena_release(&arena);
}
