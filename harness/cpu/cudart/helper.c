/* One list of jobs and one thread, detached: it ends with the process. "Idle" means that rt.calls
 * stands still for a second, which a program does that spins on memory or sleeps; a program that
 * computes for so long between two calls gets its work done a little earlier than it had to be. */
#include "cpu/cudart/helper.h"

#include "cpu/cudart/runtime.h"

#include <pthread.h>
#include <stdlib.h>

enum { LOOK_MS = 100, IDLE_LOOKS = 10 };

struct job {
    void (*function)(uint32_t number);
    uint32_t number;
    struct job *next;
};

static struct job *first_job, **last_job = &first_job;
static bool (*watched)(void);
static bool running;

static void do_first_job(void)
{
    struct job *job = first_job;
    first_job = job->next;
    if (!first_job)
        last_job = &first_job;
    job->function(job->number);
    free(job);
}

static void *serve(void *argument)
{
    (void)argument;
    unsigned looks = 0;
    uint64_t calls = 0;
    rt_lock();
    for (;;) {
        if (first_job) {
            do_first_job();
            continue;
        }
        if (rt.calls != calls) {
            calls = rt.calls;
            looks = 0;
        }
        if (watched && looks >= IDLE_LOOKS) {
            if (!watched())
                watched = NULL;
            rt_wake();
        } else {
            rt_sleep(watched ? LOOK_MS : 0);
            looks++;
        }
    }
    return NULL;
}

static bool start(void)
{
    pthread_t thread;
    if (running)
        return true;
    if (pthread_create(&thread, NULL, serve, NULL) != 0)
        return false;
    pthread_detach(thread);
    running = true;
    return true;
}

bool helper_do(void (*function)(uint32_t number), uint32_t number)
{
    if (!start())
        return false;
    struct job *job = malloc(sizeof *job);
    if (!job)
        return false;
    *job = (struct job){.function = function, .number = number};
    *last_job = job;
    last_job = &job->next;
    rt_wake();
    return true;
}

void helper_watch(bool (*step)(void))
{
    if (!watched && start())
        rt_wake();
    watched = step;
}
