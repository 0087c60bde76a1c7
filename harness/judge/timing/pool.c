/* One queue, one lock, two conditions: there is work, something is done. Who waits for a group
 * works meanwhile, so that a pool without threads comes to the same. Jobs behind a gate are held
 * beside the queue until whoever does the gate's last job moves them. */
#include "judge/timing/pool.h"

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct item {
    pool_job *job;
    void *context;
    unsigned long part;
    struct pool_group *groups[2], *gate;
    struct item *next;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct item *first, **last;
    struct item *held, **held_last;
    bool ending;
    unsigned thread_count;
    pthread_t threads[];
};

static void append(struct item *item, struct item ***last)
{
    item->next = NULL;
    **last = item;
    *last = &item->next;
}

/* Holds the lock. */
static void open_gates(struct pool *p)
{
    struct item *item = p->held;
    p->held = NULL;
    p->held_last = &p->held;
    while (item) {
        struct item *next = item->next;
        append(item, item->gate->pending ? &p->held_last : &p->last);
        item = next;
    }
    pthread_cond_broadcast(&p->work);
}

/* Holds the lock, but not while the job runs. */
static void run_first(struct pool *p)
{
    struct item *item = p->first;
    p->first = item->next;
    if (!p->first)
        p->last = &p->first;
    pthread_mutex_unlock(&p->lock);
    item->job(item->context, item->part);
    pthread_mutex_lock(&p->lock);
    bool is_last = false;
    for (unsigned k = 0; k < 2; k++)
        if (item->groups[k])
            is_last |= --item->groups[k]->pending == 0;
    if (is_last && p->held)
        open_gates(p);
    free(item);
    pthread_cond_broadcast(&p->done);
}

static void *work(void *context)
{
    struct pool *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->ending) {
        if (p->first)
            run_first(p);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct pool *pool_new(unsigned threads)
{
    struct pool *p = calloc(1, sizeof *p + threads * sizeof p->threads[0]);
    if (!p)
        BUG("no memory for a pool of %u threads", threads);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->last = &p->first;
    p->held_last = &p->held;
    while (p->thread_count < threads &&
           pthread_create(&p->threads[p->thread_count], NULL, work, p) == 0)
        p->thread_count++;
    return p;
}

void pool_add(struct pool *p, pool_job *job, void *context, unsigned long part,
              struct pool_group *a, struct pool_group *b)
{
    pool_add_after(p, NULL, job, context, part, a, b);
}

void pool_add_after(struct pool *p, struct pool_group *gate, pool_job *job, void *context,
                    unsigned long part, struct pool_group *a, struct pool_group *b)
{
    struct item *item = malloc(sizeof *item);
    if (!item)
        BUG("no memory for a job");
    *item = (struct item){job, context, part, {a, b}, gate, NULL};
    pthread_mutex_lock(&p->lock);
    for (unsigned k = 0; k < 2; k++)
        if (item->groups[k])
            item->groups[k]->pending++;
    append(item, gate && gate->pending ? &p->held_last : &p->last);
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

void pool_wait(struct pool *p, struct pool_group *g)
{
    pthread_mutex_lock(&p->lock);
    while (g->pending) {
        if (p->first)
            run_first(p);
        else
            pthread_cond_wait(&p->done, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

static void drop(struct item *item)
{
    while (item) {
        struct item *next = item->next;
        free(item);
        item = next;
    }
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->thread_count; i++)
        pthread_join(p->threads[i], NULL);
    drop(p->first);
    drop(p->held);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
