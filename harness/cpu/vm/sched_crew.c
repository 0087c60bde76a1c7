/* The blocks of one launch over several host threads.
 *
 * Every worker has an engine of its own (caches of instructions, counters, memory of blocks) and
 * runs sched_run() as if it were alone; worker 0 is the thread that called vm_launch(). They share
 * the number of the next block to start, so that blocks start in ascending order, and the device's
 * room for resident blocks, which is divided among them. Threads are kept from launch to launch and
 * called up only when a launch turns out to be long.
 *
 * After every turn of a block a worker publishes how often it has changed memory. The sum over all
 * workers is the version that sched_stuck.c goes by. A worker whose blocks all wait for something
 * first polls on, then starts more blocks, then watches the version for a moment, then sleeps until
 * it changes. When all sleep at one version, nobody will ever change anything: the last one to find
 * out reports the deadlock, with the blocks of all of them, who hold still meanwhile.
 *
 * Results do not depend on the number of workers unless those of the program depend on the order of
 * its blocks. Counts are summed at the end; a kernel that polls has counts that depend on time, so
 * it runs alone when counters are asked for, as do kernels that print or allocate, and the checks
 * and schedules that are about one exact order. */
#include "cpu/vm/sched.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STACK_BYTES = 512 * 1024,
    ALONE_STEPS = 6000,      /* warp instructions before the others are called up */
    LARGE_THREADS = 1 << 16, /* a launch of so many threads is long for sure */
    SPIN_NS = 30000,         /* watching for a change before going to sleep */
};

struct seat {
    _Alignas(64) atomic_ullong version, steps; /* as last published */
    struct vm_engine *engine;
    struct vm_crew *crew;
    pthread_t thread;
    uint64_t call;     /* the last one that its thread has answered */
    bool running;      /* takes part in this launch and has not finished */
    uint64_t stuck_at; /* the version at which nothing can move here, plus 1; 0 = it runs */
    struct block **active;
    uint32_t active_count;
    struct wire_counters counters;
};

struct vm_crew { /* NOLINT(clang-analyzer-optin.performance.Padding): lines of their own below */
    pthread_mutex_t lock;
    pthread_cond_t work;   /* for threads without work */
    pthread_cond_t change; /* for workers that are stuck, and for the end */
    struct seat seats[VM_CREW_MOST];
    uint32_t size;    /* workers of this launch */
    uint32_t threads; /* that exist, besides the caller's */
    uint64_t calls;   /* launches that threads were called up for */
    uint32_t running;
    bool called, leaving;
    enum vm_status status;
    _Alignas(64) atomic_ullong next_block;
    _Alignas(64) atomic_bool stop;
    atomic_uint sleepers;
};

static struct seat *seat_of(const struct vm_engine *e)
{
    return &e->crew->seats[e->worker];
}

/* ---- what workers share ---- */

bool crew_claim(struct vm_engine *e, uint64_t *index)
{
    *index = e->crew ? atomic_fetch_add_explicit(&e->crew->next_block, 1, memory_order_relaxed)
                     : e->next_block;
    if (*index >= e->block_total)
        return false;
    e->next_block = *index + 1;
    return true;
}

uint64_t crew_unclaimed(const struct vm_engine *e)
{
    uint64_t next =
        e->crew ? atomic_load_explicit(&e->crew->next_block, memory_order_relaxed) : e->next_block;
    return next < e->block_total ? e->block_total - next : 0;
}

uint64_t crew_version(const struct vm_engine *e)
{
    uint64_t sum = e->version;
    for (uint32_t k = 0; e->crew && k < e->crew->size; k++)
        if (k != e->worker)
            sum += atomic_load_explicit(&e->crew->seats[k].version, memory_order_acquire);
    return sum;
}

uint64_t crew_steps(const struct vm_engine *e)
{
    uint64_t sum = e->steps;
    for (uint32_t k = 0; e->crew && k < e->crew->size; k++)
        if (k != e->worker)
            sum += atomic_load_explicit(&e->crew->seats[k].steps, memory_order_relaxed);
    return sum;
}

static void wake_all(struct vm_crew *c)
{
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
}

bool crew_end(struct vm_engine *e, enum vm_status status)
{
    struct vm_crew *c = e->crew;
    e->stopped = true;
    if (!c) {
        e->status = status;
        return true;
    }
    pthread_mutex_lock(&c->lock);
    bool first = !atomic_exchange(&c->stop, true);
    if (first)
        c->status = e->status = status;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
    return first;
}

void crew_publish(struct vm_engine *e)
{
    struct vm_crew *c = e->crew;
    struct seat *s = seat_of(e);
    atomic_store_explicit(&s->steps, e->steps, memory_order_relaxed);
    if (atomic_load_explicit(&s->version, memory_order_relaxed) != e->version) {
        atomic_store(&s->version, e->version); /* before the look at the sleepers */
        if (atomic_load(&c->sleepers))
            wake_all(c);
    }
    if (atomic_load_explicit(&c->stop, memory_order_relaxed))
        e->stopped = true;
    else if (e->stopped)
        crew_end(e, e->status);
}

/* ---- waiting for each other ---- */

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void crew_pause(void)
{
    for (int k = 0; k < 16; k++)
        pause_briefly();
}

/* Everybody who still runs has found that nothing moves at this version. */
static bool all_stuck(const struct vm_crew *c, uint64_t version)
{
    for (uint32_t k = 0; k < c->size; k++)
        if (c->seats[k].running && c->seats[k].stuck_at != version + 1)
            return false;
    return true;
}

static int by_index(const void *a, const void *b)
{
    const struct block *const *x = a, *const *y = b;
    return (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

/* Holds the lock; the others sleep. */
static void report_all(struct vm_engine *e)
{
    struct vm_crew *c = e->crew;
    uint32_t count = 0, at = 0;
    for (uint32_t k = 0; k < c->size; k++)
        count += c->seats[k].running ? c->seats[k].active_count : 0;
    struct block **list = calloc(count + 1, sizeof(struct block *));
    if (!list)
        BUG("out of memory for %u blocks", count);
    for (uint32_t k = 0; k < c->size; k++)
        for (uint32_t j = 0; c->seats[k].running && j < c->seats[k].active_count; j++)
            list[at++] = c->seats[k].active[j];
    qsort(list, count, sizeof(struct block *), by_index);
    stuck_report(e, list, count);
    free(list);
    c->status = e->status;
    atomic_store(&c->stop, true);
    pthread_cond_broadcast(&c->change);
}

void crew_wait(struct vm_engine *e, struct block **active, uint32_t count)
{
    struct vm_crew *c = e->crew;
    struct seat *s = seat_of(e);
    const uint64_t version = e->quiet_version;
    uint64_t start = clock_now_ns();
    do {
        for (int k = 0; k < 8; k++) {
            crew_pause();
            if (crew_version(e) != version || atomic_load(&c->stop))
                return;
        }
    } while (clock_now_ns() - start < SPIN_NS && c->size > 1);
    pthread_mutex_lock(&c->lock);
    s->active = active;
    s->active_count = count;
    s->stuck_at = version + 1;
    atomic_fetch_add(&c->sleepers, 1);
    while (!atomic_load(&c->stop) && crew_version(e) == version) {
        if (all_stuck(c, version))
            report_all(e);
        else
            pthread_cond_wait(&c->change, &c->lock);
    }
    atomic_fetch_sub(&c->sleepers, 1);
    s->stuck_at = 0;
    e->stopped |= atomic_load(&c->stop);
    pthread_mutex_unlock(&c->lock);
}

/* ---- threads ---- */

/* A worker has no block left and will get none. */
static void finish(struct vm_engine *e)
{
    struct vm_crew *c = e->crew;
    crew_publish(e);
    pthread_mutex_lock(&c->lock);
    seat_of(e)->running = false;
    c->running--;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
}

static void *thread_main(void *context)
{
    struct seat *s = context;
    struct vm_crew *c = s->crew;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (s->call == c->calls && !c->leaving)
            pthread_cond_wait(&c->work, &c->lock);
        if (c->leaving)
            break;
        s->call = c->calls;
        if (!s->running)
            continue;
        pthread_mutex_unlock(&c->lock);
        launch_follow(s->engine);
        sched_run(s->engine);
        finish(s->engine);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Starts threads until there are `wanted`, as far as the system lets us. Signals are for the
 * program's own threads. */
static void start_threads(struct vm_crew *c, uint32_t wanted)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (c->threads >= wanted || pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (c->threads < wanted) {
        struct seat *s = &c->seats[c->threads + 1];
        s->call = c->calls;
        if (pthread_create(&s->thread, &attributes, thread_main, s) != 0)
            break;
        c->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void crew_call_up(struct vm_engine *e)
{
    struct vm_crew *c = e->crew;
    if (c->called)
        return;
    pthread_mutex_lock(&c->lock);
    c->called = true;
    c->calls++;
    for (uint32_t k = 1; k < c->size; k++)
        c->seats[k].running = true;
    c->running += c->size - 1;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
}

bool crew_is_worth_it(const struct vm_engine *e)
{
    return e->steps >= ALONE_STEPS && crew_unclaimed(e);
}

static struct vm_crew *crew_of(struct vm_engine *e)
{
    if (e->crew_kept)
        return e->crew_kept;
    struct vm_crew *c = aligned_alloc(64, sizeof *c);
    if (!c)
        BUG("out of memory for host threads");
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->change, NULL);
    c->seats[0].engine = e;
    for (uint32_t k = 0; k < VM_CREW_MOST; k++)
        c->seats[k].crew = c;
    e->crew_kept = c;
    return c;
}

void crew_free(struct vm_crew *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->leaving = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t k = 1; k <= c->threads; k++)
        pthread_join(c->seats[k].thread, NULL);
    for (uint32_t k = 1; k < VM_CREW_MOST; k++)
        vm_engine_free(c->seats[k].engine);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->change);
    free(c);
}

/* ---- a launch ---- */

static uint32_t processors(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

/* How many workers may share this launch. */
static uint32_t size_for(const struct vm_engine *e)
{
    const struct wire_device_config *config = &e->vm->config;
    const uint32_t exact = WIRE_CHECK_GLOBAL_RACES | WIRE_CHECK_PROFILE | WIRE_CHECK_TRACE;
    if (config->host_threads == 1 || config->schedule != WIRE_IN_ORDER || config->delay_stores ||
        config->resident_blocks || e->checks & exact || e->code->one_worker ||
        (e->code->polls && e->checks & WIRE_CHECK_COUNTERS))
        return 1;
    uint64_t size = config->host_threads ? config->host_threads : processors();
    size = size < VM_CREW_MOST ? size : VM_CREW_MOST;
    size = size < e->block_total ? size : e->block_total;
    return (uint32_t)(size < e->resident_most ? size : e->resident_most);
}

static void prepare(struct vm_crew *c, struct vm_engine *e, uint32_t size)
{
    start_threads(c, size - 1);
    c->size = size <= c->threads + 1 ? size : c->threads + 1;
    c->running = 1;
    c->called = false;
    c->status = VM_OK;
    atomic_store(&c->next_block, 0);
    atomic_store(&c->stop, false);
    uint32_t most = e->resident_most;
    for (uint32_t k = 0; k < c->size; k++) {
        struct seat *s = &c->seats[k];
        s->running = k == 0;
        s->stuck_at = 0;
        s->active_count = 0;
        atomic_store(&s->version, k ? 0 : e->version);
        atomic_store(&s->steps, 0);
        s->counters = (struct wire_counters){0};
        if (k && !s->engine)
            s->engine = launch_new_engine(e->vm);
        s->engine->crew = c;
        s->engine->worker = k;
        if (k)
            launch_copy(s->engine, e, &s->counters);
        uint32_t share = e->launch->cooperative ? most : most / c->size + (k < most % c->size);
        s->engine->resident_most = s->engine->resident_wanted = share;
    }
}

/* Everybody has finished. */
static void collect(struct vm_crew *c, struct vm_engine *e)
{
    for (uint32_t k = 1; k < c->size; k++) {
        struct seat *s = &c->seats[k];
        for (unsigned j = 0; j < COUNTER_COUNT; j++)
            e->counters->value[j] += s->counters.value[j];
        e->version += atomic_load(&s->version);
        e->steps += atomic_load(&s->steps);
        if (s->engine->time_offset > e->time_offset)
            e->time_offset = s->engine->time_offset;
    }
    e->status = c->status;
    vm_merge_bits(e->vm);
}

void crew_run(struct vm_engine *e)
{
    uint32_t size = size_for(e);
    e->crew = NULL;
    if (size > 1) {
        struct vm_crew *c = crew_of(e);
        prepare(c, e, size);
    }
    if (!e->crew || e->crew->size == 1) {
        e->crew = NULL;
        sched_run(e);
        return;
    }
    struct vm_crew *c = e->crew;
    if (e->block_total * e->block_threads >= LARGE_THREADS)
        crew_call_up(e);
    sched_run(e);
    finish(e);
    pthread_mutex_lock(&c->lock);
    while (c->running)
        pthread_cond_wait(&c->change, &c->lock);
    pthread_mutex_unlock(&c->lock);
    collect(c, e);
    e->crew = NULL;
}
