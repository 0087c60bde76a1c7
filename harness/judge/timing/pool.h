/* pool: threads for what a timing does beside the card: making data, answers, comparing.
 *
 * Jobs start in the order of pool_add(). A group counts its jobs that are not done; whoever waits
 * for it sees what they wrote. Any thread may add and wait, jobs only add. */
#ifndef JUDGE_TIMING_POOL_H
#define JUDGE_TIMING_POOL_H

struct pool;

struct pool_group {
    unsigned pending; /* guarded by the pool */
};

typedef void pool_job(void *context, unsigned long part);

/* Works with any number of threads, also when none can be made: then pool_wait() does the jobs. */
struct pool *pool_new(unsigned threads);
/* job(context, part), counted in up to two groups (NULL: none). */
void pool_add(struct pool *p, pool_job *job, void *context, unsigned long part,
              struct pool_group *a, struct pool_group *b);
/* The same, but the job does not start before `gate` has no jobs: a job that waited for others
 * inside of itself could take the thread that they need. */
void pool_add_after(struct pool *p, struct pool_group *gate, pool_job *job, void *context,
                    unsigned long part, struct pool_group *a, struct pool_group *b);
void pool_wait(struct pool *p, struct pool_group *g);
/* Jobs that have not begun are dropped; those that have are waited for. NULL is fine. */
void pool_free(struct pool *p);

#endif
