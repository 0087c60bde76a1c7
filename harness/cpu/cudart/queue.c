/* A stamp serves both questions: an operation may run when every timeline has come as far as its
 * stamp says, and the race detector orders it by the same stamp. Operations of a timeline run in
 * order, so only the first of each is looked at, and what it waits for is the first of another one:
 * no chain is longer than there are timelines. Submissions only name earlier ones, so there are no
 * circles.
 *
 * A timeline is used again when all of it comes before whatever its new owner does. */
#include "cpu/cudart/queue.h"

#include "base/rng.h"
#include "cpu/cudart/capture.h"
#include "cpu/cudart/helper.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEGACY_TIMELINE = 0,
    HOST_TIMELINE = 1,  /* what the host does itself, and, at index `begun`, that it has waited */
    ASKED_PER_STEP = 4, /* questions that are answered with "not ready" before something is done */
    CALLBACK_MS = 50,   /* so long a submission waits for a host function to return */
    WHAT_BYTES = 192,
    PENDING_MOST = 16384, /* a card's queues are not endless either */
};

struct operation {
    struct rt_work work;
    struct stamp stamp;
    uint32_t index;
    char what[WHAT_BYTES];
    struct operation *next;
};

struct timeline {
    uint32_t begun, done; /* indexes: submitted, done */
    struct operation *first, *last;
    bool busy;  /* the first one is a host function that is running */
    bool owned; /* by a stream or a graph that is being launched */
    /* The last one that nobody may leave behind. */
    uint32_t matters;
    char what[WHAT_BYTES];
};

static struct timeline *timelines;
static uint32_t timeline_count;
static uint64_t pending; /* operations in all timelines */
static struct stamp host, destroyed /* blocking streams that are gone */;
static struct rt_stream legacy = {.handle = cudaStreamLegacy,
                                  .id = 1,
                                  .name = "the default stream",
                                  .blocking = true,
                                  .timeline = LEGACY_TIMELINE};
static unsigned generation; /* how often all streams were released */
static uint64_t draws;
static unsigned created;

/* ---- timelines ---- */

static uint32_t add_timeline(void)
{
    struct timeline *more = realloc(timelines, (timeline_count + 1) * sizeof *more);
    if (!more)
        BUG("out of memory for %u timelines", timeline_count + 1);
    timelines = more;
    timelines[timeline_count] = (struct timeline){.owned = true};
    return timeline_count++;
}

static void start(void)
{
    if (timeline_count > 0)
        return;
    add_timeline(); /* LEGACY_TIMELINE */
    add_timeline(); /* HOST_TIMELINE */
}

uint32_t queue_take_timeline(const struct stamp *from)
{
    start();
    for (uint32_t t = 0; t < timeline_count; t++) {
        struct timeline *l = &timelines[t];
        uint32_t covered = stamp_at(from, t);
        if (covered < stamp_at(&host, t))
            covered = stamp_at(&host, t);
        if (!l->owned && l->begun <= covered) {
            l->owned = true;
            return t;
        }
    }
    return add_timeline();
}

void queue_give_timeline(uint32_t timeline)
{
    timelines[timeline].owned = false;
}

/* ---- streams ---- */

static struct rt_stream *make_stream(unsigned flags, int priority, const char *name)
{
    struct rt_stream *s = calloc(1, sizeof *s);
    if (!s)
        BUG("out of memory for a stream");
    *s = (struct rt_stream){
        .handle = (cudaStream_t)(void *)s,
        .flags = flags,
        .priority = priority,
        .id = 2 + rt.next_stream_id++,
        .blocking = flags != cudaStreamNonBlocking,
        .timeline = queue_take_timeline(&host),
    };
    snprintf(s->name, sizeof s->name, "%s", name);
    map_put(&rt.streams, s, s);
    return s;
}

struct rt_stream *queue_stream_new(unsigned flags, int priority)
{
    char name[32];
    snprintf(name, sizeof name, "stream %u", ++created);
    return make_stream(flags, priority, name);
}

void queue_stream_free(struct rt_stream *s)
{
    if (s->blocking)
        stamp_join(&destroyed, &s->stamp);
    map_remove(&rt.streams, s);
    queue_give_timeline(s->timeline);
    capture_abandon(s);
    stamp_release(&s->stamp);
    free(s);
}

/* ---- the default stream of a thread ---- */

struct own_stream {
    struct rt_stream *stream;
    unsigned generation;
};
static _Thread_local struct own_stream own;
static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static void thread_ends(void *argument)
{
    (void)argument;
    rt_lock();
    if (own.stream && own.generation == generation)
        queue_stream_free(own.stream);
    own.stream = NULL;
    rt_unlock();
}

static void make_own_key(void)
{
    pthread_key_create(&own_key, thread_ends);
}

static struct rt_stream *own_stream(void)
{
    if (own.stream && own.generation == generation)
        return own.stream;
    pthread_once(&own_once, make_own_key);
    own.stream = make_stream(cudaStreamDefault, 0, "the thread's default stream");
    own.generation = generation;
    own.stream->handle = cudaStreamPerThread;
    pthread_setspecific(own_key, own.stream);
    return own.stream;
}

struct rt_stream *queue_find(cudaStream_t stream)
{
    start();
    if (!stream || stream == cudaStreamLegacy)
        return &legacy;
    if (stream == cudaStreamPerThread)
        return own_stream();
    return map_get(&rt.streams, stream);
}

/* ---- running ---- */

static bool random_order(void)
{
    return vm_config(rt.vm)->stream_order == WIRE_STREAMS_RANDOM;
}

uint64_t queue_draw(uint64_t below)
{
    return rng_below(rng_key(vm_config(rt.vm)->schedule_seed, 0x57), draws++, below);
}

void queue_restart_draws(void)
{
    draws = 0;
}

static void finish(uint32_t t)
{
    struct timeline *l = &timelines[t];
    struct operation *o = l->first;
    l->done = o->index;
    l->busy = false;
    l->first = o->next;
    if (!l->first)
        l->last = NULL;
    pending--;
    work_release(&o->work);
    stamp_release(&o->stamp);
    free(o);
}

static void drain(void);

static void call_back(const struct rt_work *w, cudaError_t status)
{
    if (w->kind == WORK_CALLBACK)
        w->callback.function(w->callback.stream, status, w->callback.argument);
    else
        w->host.function(w->host.argument);
}

/* The host function at the head of a timeline, in the helper's thread. */
static void run_host_function(uint32_t t)
{
    const struct rt_work work = timelines[t].first->work;
    cudaError_t status = rt_fault();
    rt_unlock();
    rt_set_in_callback(true);
    call_back(&work, status);
    rt_set_in_callback(false);
    rt_lock();
    finish(t);
    if (vm_config(rt.vm)->stream_order == WIRE_STREAMS_EAGER)
        drain(); /* what stood behind it */
    rt_wake();
}

/* Starts the first operation of a timeline; all that comes before it is done. */
static void run_first(uint32_t t)
{
    struct operation *o = timelines[t].first;
    bool calls =
        o->work.kind == WORK_CALLBACK || (o->work.kind == WORK_HOST && rt_fault() == cudaSuccess);
    if (calls) {
        timelines[t].busy = true;
        if (!helper_do(run_host_function, t))
            run_host_function(t);
        return;
    }
    bool touches = o->work.kind != WORK_NOTHING && o->work.kind != WORK_RECORD;
    if (touches && rt_fault() == cudaSuccess)
        order_begin(&o->stamp, t, o->index, o->what);
    work_run(&o->work, o->what);
    finish(t);
}

/* The timeline that has not come as far as `o` asks, or `t`, its own. */
static uint32_t blocker_of(const struct operation *o, uint32_t t)
{
    for (uint32_t u = 0; u < o->stamp.count; u++)
        if (u != t && timelines[u].done < o->stamp.at[u])
            return u;
    return t;
}

/* false: a host function is running in the way, and `patient` is not set. */
static bool run_until(uint32_t t, uint32_t index, bool patient)
{
    while (timelines[t].done < index) {
        if (timelines[t].busy) {
            if (!patient)
                return false;
            rt_sleep(0);
            continue;
        }
        const struct operation *o = timelines[t].first;
        uint32_t blocker = blocker_of(o, t);
        if (blocker == t)
            run_first(t);
        else if (!run_until(blocker, o->stamp.at[blocker], patient))
            return false;
    }
    return true;
}

/* Draws one of the timelines that have something to do: with `upto`, something that it covers. How
 * many idle ones there are must not matter, or a seed would not give the same order again.
 * timeline_count if there is none. */
static uint32_t draw_timeline(const struct stamp *upto)
{
    uint32_t chosen = timeline_count, candidates = 0;
    for (uint32_t t = 0; t < timeline_count; t++) {
        bool waits =
            upto ? timelines[t].done < stamp_at(upto, t) : timelines[t].first && !timelines[t].busy;
        if (waits && (++candidates == 1 || queue_draw(candidates) == 0))
            chosen = t;
    }
    return chosen;
}

/* One operation of some timeline, and what it needs. */
static void gamble(void)
{
    uint32_t t = draw_timeline(NULL);
    if (t < timeline_count)
        run_until(t, timelines[t].first->index, false);
}

/* Whatever can run now. */
static void drain(void)
{
    for (uint32_t t = 0; t < timeline_count; t++)
        if (timelines[t].first)
            run_until(t, timelines[t].begun, false);
}

void queue_make_room(void)
{
    drain();
}

/* For a program that is idle: the helper's steps. */
static bool idle_step(void)
{
    for (uint32_t t = timeline_count; t-- > 0;) {
        uint32_t before = timelines[t].done;
        if (!timelines[t].first || timelines[t].busy)
            continue;
        run_until(t, before + 1, false);
        if (timelines[t].done > before)
            return pending > 0;
    }
    return false;
}

/* ---- submitting ---- */

void queue_stamp(const struct rt_stream *s, struct stamp *out)
{
    stamp_copy(out, &host);
    stamp_join(out, &s->stamp);
    if (!s->blocking)
        return;
    stamp_join(out, &legacy.stamp);
    if (s != &legacy)
        return;
    stamp_join(out, &destroyed);
    size_t position = 0;
    for (const struct rt_stream *other; (other = map_next(&rt.streams, &position));)
        if (other->blocking)
            stamp_join(out, &other->stamp);
}

/* After a submission: as much as the order of streams asks for now. */
static void run_now(uint32_t t, uint32_t index)
{
    uint32_t order = vm_config(rt.vm)->stream_order;
    if (order == WIRE_STREAMS_EAGER) {
        bool in_the_way = timelines[t].busy;
        run_until(t, index, false);
        /* Its own host function should be back before the call is. If it is not, it waits for
         * something that the program does next. */
        for (int ms = 0; ms < CALLBACK_MS && !in_the_way && timelines[t].busy; ms++)
            rt_sleep(1);
        return;
    }
    helper_watch(idle_step);
    while (pending > PENDING_MOST && !timelines[t].busy && timelines[t].first &&
           run_until(t, timelines[t].done + 1, false))
        continue;
    if (order == WIRE_STREAMS_RANDOM)
        while (pending > 0 && queue_draw(2))
            gamble();
}

/* On a card the bytes come at some time between the call and the end of the copy. Most often they
 * are late, and then a host that does not wait finds what an earlier call left there: the right
 * answer, where the data were the same. So they hold nothing of use until then - unless something
 * that is still waiting may need them. */
static void obscure_target(const struct rt_work *work)
{
    uint64_t low, high;
    if (vm_config(rt.vm)->stream_order == WIRE_STREAMS_EAGER ||
        !work_pinned_target(work, &low, &high))
        return;
    for (uint32_t t = 0; t < timeline_count; t++)
        for (const struct operation *o = timelines[t].first; o; o = o->next)
            if (work_may_touch(&o->work, low, high))
                return;
    work_obscure(work);
}

void queue_submit_at(uint32_t t, const char *stream_name, const struct stamp *before,
                     struct rt_work *work, struct stamp *after)
{
    struct operation *o = calloc(1, sizeof *o);
    if (!o)
        BUG("out of memory for a stream's operation");
    struct timeline *l = &timelines[t];
    uint32_t index = ++l->begun;
    o->work = *work;
    o->index = index;
    stamp_copy(&o->stamp, before);
    stamp_raise(&o->stamp, t, index);
    stamp_copy(after, &o->stamp);
    work_describe(work, stream_name, o->what, sizeof o->what);
    if (work_matters(work)) {
        l->matters = index;
        memcpy(l->what, o->what, sizeof l->what);
    }
    if (l->last)
        l->last->next = o;
    else
        l->first = o;
    l->last = o;
    pending++;
    run_now(t, index);
}

cudaError_t queue_submit(struct rt_stream *s, struct rt_work *work)
{
    if (s->capture)
        return capture_add(s, work);
    cudaError_t error = capture_check_legacy(s);
    if (error != cudaSuccess) {
        work_release(work);
        return error;
    }
    bool pageable =
        work->kind == WORK_COPY && work->copy.to_reachable && !work->copy.from_reachable;
    if (pageable && (vm_config(rt.vm)->stream_order != WIRE_STREAMS_EAGER || pending > 0))
        work_stage(work);
    obscure_target(work);
    struct stamp before = {0};
    queue_stamp(s, &before);
    queue_submit_at(s->timeline, s->name, &before, work, &s->stamp);
    stamp_release(&before);
    return cudaSuccess;
}

void queue_host_operation(const char *what)
{
    start();
    struct timeline *l = &timelines[HOST_TIMELINE];
    l->done = ++l->begun;
    stamp_raise(&host, HOST_TIMELINE, l->begun);
    order_begin(&host, HOST_TIMELINE, l->begun, what);
}

/* ---- waiting ---- */

bool queue_done(const struct stamp *stamp)
{
    for (uint32_t t = 0; t < stamp->count; t++)
        if (timelines[t].done < stamp->at[t])
            return false;
    return true;
}

void queue_seen(const struct stamp *stamp)
{
    stamp_join(&host, stamp);
    if (pending == 0)
        order_forget(&host);
}

void queue_wait(const struct stamp *wanted)
{
    struct stamp stamp = {0}; /* the stream may go while a host function runs */
    stamp_copy(&stamp, wanted);
    while (!queue_done(&stamp)) {
        uint32_t t = stamp.count - 1; /* the newest stream first */
        if (random_order()) {
            if (queue_draw(2))
                gamble();
            t = draw_timeline(&stamp);
        }
        while (t < timeline_count && t > 0 && timelines[t].done >= stamp_at(&stamp, t))
            t--;
        if (t < timeline_count && timelines[t].done < stamp_at(&stamp, t))
            run_until(t, timelines[t].done + 1, true);
    }
    queue_seen(&stamp);
    stamp_release(&stamp);
}

void queue_wait_stream(const struct rt_stream *s)
{
    struct stamp stamp = {0};
    queue_stamp(s, &stamp);
    queue_wait(&stamp);
    stamp_release(&stamp);
}

void queue_wait_all(void)
{
    struct stamp all = {0};
    start();
    for (uint32_t t = 0; t < timeline_count; t++)
        stamp_raise(&all, t, timelines[t].begun);
    queue_wait(&all);
    stamp_release(&all);
}

void queue_nudge(const struct stamp *stamp)
{
    static unsigned asked;
    if (vm_config(rt.vm)->stream_order == WIRE_STREAMS_EAGER)
        return; /* a host function is in the way, and what follows it */
    if (++asked % ASKED_PER_STEP)
        return;
    for (uint32_t t = 0; t < stamp->count; t++) {
        if (timelines[t].done < stamp->at[t]) {
            run_until(t, timelines[t].done + 1, false);
            return;
        }
    }
}

/* ---- ends ---- */

void queue_forget_module(const struct rt_module *module)
{
    for (uint32_t t = 0; t < timeline_count; t++) {
        for (struct operation *o = timelines[t].first; o; o = o->next) {
            if (o->work.kind == WORK_KERNEL && o->work.kernel.function &&
                o->work.kernel.function->module == module)
                o->work.kernel.function = NULL;
        }
    }
}

void queue_report_left_behind(const char *stream_name)
{
    const struct timeline *left = NULL;
    unsigned more = 0;
    char others[64] = "";
    for (uint32_t t = 0; t < timeline_count; t++) {
        if (timelines[t].matters <= stamp_at(&host, t))
            continue;
        more += left != NULL;
        left = left ? left : &timelines[t];
    }
    if (!left)
        return;
    if (more > 0)
        snprintf(others, sizeof others, " (and work on %u more stream%s)", more,
                 more == 1 ? "" : "s");
    rt_report(FINDING_leak, WIRE_ERROR, NULL,
              "%s was left behind%s: the caller waits for `%s`, and nothing makes `%s` wait for "
              "this%s. Launch it on `%s`, or let `%s` wait for an event that is recorded behind it",
              left->what, others, stream_name, stream_name,
              left == &timelines[LEGACY_TIMELINE]
                  ? ", since it was created with cudaStreamNonBlocking"
                  : "",
              stream_name, stream_name);
}

void queue_describe_pending(char *out, size_t out_bytes)
{
    out[0] = '\0';
    for (uint32_t t = 0; t < timeline_count; t++) {
        const struct operation *o = timelines[t].first;
        if (o) {
            snprintf(out, out_bytes, "%s", o->what);
            return;
        }
    }
}

void queue_release(void)
{
    queue_wait_all();
    size_t position = 0;
    for (struct rt_stream *s; (s = map_next(&rt.streams, &position));)
        queue_stream_free(s);
    map_release(&rt.streams);
    generation++;
}
