#include "judge/prepare.h"

#include "judge/request.h"

#include <stdlib.h>
#include <string.h>

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

/* Memory for the answers: zero pages that the oracle is the first to touch. */
static int make_answers(struct prepared_case *c)
{
    const struct problem *p = c->data.problem;
    uint64_t total = 0;
    for (unsigned i = 0; i < p->param_count; i++)
        if (is_output(&p->params[i]))
            total += align_up(c->data.buffers[i].bytes) + 64;
    c->bytes += total;
    c->answers = calloc(total + 64, 1);
    if (!c->answers)
        return err_set(&c->error, "no memory for %llu bytes of expected answers",
                       (unsigned long long)total);
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
    if (problem_case_sizes(p->problem, p->cases[index], p->seed, &c->arena, &c->data, &c->error) !=
        0) {
        c->spec_is_wrong = true;
        return -1;
    }
    request_init(&c->request, &c->data);
    c->bytes = c->request.in_bytes + c->request.out_bytes;
    if (run_region_init(&c->inputs, c->request.in_bytes, false, &c->error) != 0)
        return -1;
    c->has_inputs = true;
    for (unsigned i = 0; i < p->problem->param_count; i++) {
        const struct problem_param *param = &p->problem->params[i];
        if (param->kind == PARAM_BUFFER && (param->role == WIRE_INPUT || param->role == WIRE_INOUT))
            c->data.buffers[i].input = c->inputs.bytes + c->request.params[i].in_offset;
    }
    problem_case_fill(&c->data);
    if (make_answers(c) != 0)
        return -1;
    return p->use_oracle ? oracle_expected(&c->data, &c->error) : 0;
}

static void free_case(struct prepared_case *c)
{
    if (c->has_inputs)
        run_region_release(&c->inputs);
    free(c->answers);
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
