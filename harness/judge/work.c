/* Most of the time of a large case goes into page faults, not into data (measured for 80 MB: 90 ms
 * to touch a fresh memfd page by page, 72 ms to map it populated, 12 ms for private memory in huge
 * pages). So the answers ask for huge pages, and both regions, whose pages are made when they are
 * mapped, are made here, off the path that the submission waits for. */
#include "judge/work.h"

#include "judge/problem/request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Bounds memory when a spec has many large cases; one case alone may be larger. */
static const uint64_t WORK_AHEAD_BYTES = (uint64_t)1 << 30;
static const uint64_t SMALL_CASE_BYTES = (uint64_t)1 << 20;
static const uint64_t HUGE_PAGE_BYTES = (uint64_t)1 << 21;

/* ---- one case ---- */

bool work_is_small(const struct prepared_case *c)
{
    return c->bytes <= SMALL_CASE_BYTES;
}

static int size_case(struct prepared_case *c, const struct problem *p,
                     const struct problem_case *instance, uint64_t seed, struct err *e)
{
    arena_init(&c->arena);
    c->inputs.fd = c->outputs.fd = -1;
    if (problem_case_sizes(p, instance, seed, &c->arena, &c->data, e) != 0)
        return -1;
    request_init(&c->request, &c->data);
    for (unsigned i = 0; i < p->param_count; i++)
        if (problem_is_output(&p->params[i]))
            c->answer_bytes += wire_align_up(c->data.buffers[i].bytes) + 64;
    c->bytes = c->request.in_bytes + c->request.out_bytes + c->answer_bytes;
    return 0;
}

/* Zero pages that the oracle is the first to touch. */
static int make_answers(struct prepared_case *c)
{
    const struct problem *p = c->data.problem;
    void *answers =
        mmap(NULL, c->answer_bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (answers == MAP_FAILED)
        return err_set_errno(&c->error, "no memory for %llu bytes of expected answers",
                             (unsigned long long)c->answer_bytes);
    c->answers = answers;
    if (c->answer_bytes >= HUGE_PAGE_BYTES)
        madvise(answers, c->answer_bytes, MADV_HUGEPAGE); /* a wish */
    uint8_t *at = answers;
    for (unsigned i = 0; i < p->param_count; i++)
        if (problem_is_output(&p->params[i])) {
            c->data.buffers[i].expected = at;
            at += wire_align_up(c->data.buffers[i].bytes) + 64;
        }
    return 0;
}

static int make_case(struct prepared_case *c, bool use_oracle)
{
    const struct problem *p = c->data.problem;
    if (run_region_init(&c->inputs, c->request.in_bytes, false, &c->error) != 0)
        return -1;
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct problem_param *param = &p->params[i];
        if (param->kind == PARAM_BUFFER && (param->role == WIRE_INPUT || param->role == WIRE_INOUT))
            c->data.buffers[i].input = c->inputs.bytes + c->request.params[i].in_offset;
    }
    problem_case_fill(&c->data);
    if (make_answers(c) != 0)
        return -1;
    if (c->data.instance->answers)
        problem_case_answers(&c->data);
    else if (use_oracle && oracle_expected(&c->data, &c->error) != 0)
        return -1;
    return run_region_init(&c->outputs, c->request.out_bytes, true, &c->error);
}

static void free_case(struct prepared_case *c)
{
    run_region_release(&c->inputs);
    run_region_release(&c->outputs);
    if (c->answers)
        munmap(c->answers, c->answer_bytes + 1);
    c->answers = NULL;
    arena_release(&c->arena);
}

/* ---- all of them; the functions below hold the lock unless they say otherwise ---- */

/* Prepares item `index`, which is CASE_NEW, without holding the lock meanwhile. */
static void prepare(struct work *w, unsigned index, enum case_state then)
{
    struct work_item *item = &w->items[index];
    item->state = CASE_PREPARING;
    w->ahead_bytes += item->c.bytes;
    pthread_mutex_unlock(&w->lock);
    item->c.status = make_case(&item->c, w->use_oracle);
    pthread_mutex_lock(&w->lock);
    item->state = then;
    pthread_cond_broadcast(&w->changed);
}

static void *prepare_all(void *context)
{
    struct work *w = context;
    pthread_mutex_lock(&w->lock);
    for (unsigned k = 0; k < w->count; k++) {
        /* With nothing ahead, the next one fits whatever its size is. */
        while (!w->cancelled && w->ahead_bytes > WORK_AHEAD_BYTES)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->cancelled)
            break;
        if (w->items[w->by_size[k]].state == CASE_NEW)
            prepare(w, w->by_size[k], CASE_READY);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool is_open(const struct work_item *item)
{
    return item->state == CASE_NEW || item->state == CASE_PREPARING || item->state == CASE_READY;
}

/* The case that a worker should take next, `count` when none is left. The large side waits for the
 * largest rather than take another: everything ends when that one does. */
static unsigned choose(const struct work *w, enum work_side side)
{
    unsigned waiting = w->count;
    if (side == WORK_LARGE_FIRST)
        for (unsigned k = 0; k < w->large_count; k++)
            if (is_open(&w->items[w->by_size[k]]))
                return w->by_size[k];
    for (unsigned pass = 0; pass < 2; pass++) /* the small ones, then the large ones */
        for (unsigned k = 0; k < w->count; k++) {
            unsigned i = side == WORK_LARGE_FIRST ? w->count - 1 - k : k;
            const struct work_item *item = &w->items[i];
            if (!is_open(item) || work_is_small(&item->c) != (pass == 0))
                continue;
            if (item->state != CASE_PREPARING)
                return i;
            waiting = i;
        }
    return waiting;
}

struct prepared_case *work_take(struct work *w, enum work_side side, unsigned *index)
{
    struct prepared_case *taken = NULL;
    pthread_mutex_lock(&w->lock);
    while (!w->cancelled) {
        unsigned i = choose(w, side);
        if (i == w->count)
            break;
        if (w->items[i].state == CASE_PREPARING) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        if (w->items[i].state == CASE_NEW)
            prepare(w, i, CASE_TAKEN);
        w->items[i].state = CASE_TAKEN;
        *index = i;
        taken = &w->items[i].c;
        break;
    }
    pthread_mutex_unlock(&w->lock);
    return taken;
}

void work_done(struct work *w, unsigned index)
{
    free_case(&w->items[index].c);
    pthread_mutex_lock(&w->lock);
    w->items[index].state = CASE_DONE;
    w->ahead_bytes -= w->items[index].c.bytes;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* By insertion: a few hundred cases, once. */
static void sort_by_size(struct work *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        unsigned k = i;
        for (; k > 0 && w->items[w->by_size[k - 1]].c.bytes < w->items[i].c.bytes; k--)
            w->by_size[k] = w->by_size[k - 1];
        w->by_size[k] = i;
        w->large_count += !work_is_small(&w->items[i].c);
    }
}

int work_init(struct work *w, const struct problem *problem,
              const struct problem_case *const *cases, unsigned count, uint64_t seed,
              bool use_oracle, struct arena *arena, struct err *e)
{
    *w = (struct work){.use_oracle = use_oracle};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->items = arena_array(arena, count, sizeof *w->items);
    w->by_size = arena_array(arena, count, sizeof *w->by_size);
    for (unsigned i = 0; i < count; i++) {
        w->count = i + 1;
        if (size_case(&w->items[i].c, problem, cases[i], seed, e) != 0)
            return -1;
    }
    sort_by_size(w);
    return 0;
}

void work_start(struct work *w)
{
    w->has_thread = pthread_create(&w->thread, NULL, prepare_all, w) == 0;
}

void work_cancel(struct work *w)
{
    pthread_mutex_lock(&w->lock);
    w->cancelled = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void work_release(struct work *w)
{
    work_cancel(w);
    if (w->has_thread)
        pthread_join(w->thread, NULL);
    for (unsigned i = 0; i < w->count; i++)
        if (w->items[i].state != CASE_DONE)
            free_case(&w->items[i].c);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}
