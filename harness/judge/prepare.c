/* Most of the time of a large case goes into page faults, not into data (measured for 80 MB: 90 ms
 * to touch a fresh memfd page by page, 72 ms to map it populated, 12 ms for private memory in huge
 * pages). So the answers ask for huge pages, and both regions, whose pages are made when they are
 * mapped, are made here, off the path that the submission waits for. */
#include "judge/prepare.h"

#include "judge/request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Bounds memory when a spec has many large cases; one case alone may be larger. */
static const uint64_t PREPARE_AHEAD_BYTES = (uint64_t)1 << 30;

static uint64_t align_up(uint64_t x)
{
    return (x + 63) & ~(uint64_t)63;
}

static bool is_output(const struct problem_param *param)
{
    return param->kind == PARAM_BUFFER && (param->role == WIRE_OUTPUT || param->role == WIRE_INOUT);
}

static const uint64_t HUGE_PAGE_BYTES = (uint64_t)1 << 21;

/* Zero pages that the oracle is the first to touch. */
static int make_answers(struct prepared_case *c)
{
    const struct problem *p = c->data.problem;
    uint64_t total = 0;
    for (unsigned i = 0; i < p->param_count; i++)
        if (is_output(&p->params[i]))
            total += align_up(c->data.buffers[i].bytes) + 64;
    c->bytes += total;
    c->answer_bytes = total + 64;
    c->answers =
        mmap(NULL, c->answer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c->answers == MAP_FAILED) {
        c->answers = NULL;
        return err_set_errno(&c->error, "no memory for %llu bytes of expected answers",
                             (unsigned long long)total);
    }
    if (c->answer_bytes >= HUGE_PAGE_BYTES)
        madvise(c->answers, c->answer_bytes, MADV_HUGEPAGE); /* a wish */
    uint8_t *at = c->answers;
    for (unsigned i = 0; i < p->param_count; i++)
        if (is_output(&p->params[i])) {
            c->data.buffers[i].expected = at;
            at += align_up(c->data.buffers[i].bytes) + 64;
        }
    return 0;
}

static int make_case(const struct preparation *p, unsigned index, struct prepared_case *c)
{
    arena_init(&c->arena);
    c->inputs.fd = c->outputs.fd = -1;
    if (problem_case_sizes(p->problem, p->cases[index], p->seed, &c->arena, &c->data, &c->error) !=
        0) {
        c->spec_is_wrong = true;
        return -1;
    }
    request_init(&c->request, &c->data);
    c->bytes = c->request.in_bytes + c->request.out_bytes;
    if (run_region_init(&c->inputs, c->request.in_bytes, false, &c->error) != 0)
        return -1;
    for (unsigned i = 0; i < p->problem->param_count; i++) {
        const struct problem_param *param = &p->problem->params[i];
        if (param->kind == PARAM_BUFFER && (param->role == WIRE_INPUT || param->role == WIRE_INOUT))
            c->data.buffers[i].input = c->inputs.bytes + c->request.params[i].in_offset;
    }
    problem_case_fill(&c->data);
    if (make_answers(c) != 0)
        return -1;
    if (p->use_oracle && oracle_expected(&c->data, &c->error) != 0)
        return -1;
    if (run_region_init(&c->outputs, c->request.out_bytes, true, &c->error) != 0)
        return -1;
    return 0;
}

static void free_case(struct prepared_case *c)
{
    run_region_release(&c->inputs);
    run_region_release(&c->outputs);
    if (c->answers)
        munmap(c->answers, c->answer_bytes);
    arena_release(&c->arena);
    memset(c, 0, sizeof *c);
}

static void *prepare_all(void *context)
{
    struct preparation *p = context;
    for (unsigned i = 0; i < p->count; i++) {
        pthread_mutex_lock(&p->lock);
        while (!p->cancelled && p->ahead_bytes > PREPARE_AHEAD_BYTES && p->given_back < i)
            pthread_cond_wait(&p->changed, &p->lock);
        bool stop = p->cancelled;
        pthread_mutex_unlock(&p->lock);
        if (stop)
            break;
        struct prepared_case *c = &p->prepared[i];
        c->status = make_case(p, i, c);
        pthread_mutex_lock(&p->lock);
        p->ready = i + 1;
        p->ahead_bytes += c->bytes;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

int preparation_start(struct preparation *p, const struct problem *problem,
                      const struct problem_case *const *cases, unsigned count, uint64_t seed,
                      bool use_oracle, struct arena *arena, struct err *e)
{
    *p = (struct preparation){
        .problem = problem, .cases = cases, .count = count, .seed = seed, .use_oracle = use_oracle};
    p->prepared = arena_array(arena, count, sizeof *p->prepared);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    if (pthread_create(&p->thread, NULL, prepare_all, p) != 0) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        return err_set(e, "cannot start a thread to prepare the cases");
    }
    return 0;
}

struct prepared_case *preparation_take(struct preparation *p, unsigned index)
{
    pthread_mutex_lock(&p->lock);
    while (p->ready <= index)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return &p->prepared[index];
}

void preparation_give_back(struct preparation *p, unsigned index)
{
    uint64_t bytes = p->prepared[index].bytes;
    free_case(&p->prepared[index]);
    pthread_mutex_lock(&p->lock);
    p->given_back = index + 1;
    p->ahead_bytes -= bytes;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void preparation_stop(struct preparation *p)
{
    pthread_mutex_lock(&p->lock);
    p->cancelled = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    for (unsigned i = p->given_back; i < p->ready; i++)
        free_case(&p->prepared[i]);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}
