/* Contents come from a case of the spec whose generators fit: the largest such case, because it is
 * written for what a benchmark is about. Each set has keys of its own, and each change of it, too:
 * a stretch is made again as if it belonged to another set.
 *
 * One job makes the pages (base/pages.h), and then adds those that fill them.
 *
 * Answers to many elements are worked out in parts, by all threads: a serial oracle takes longer
 * than everything else in a round. */
#include "judge/timing/data.h"

#include "base/hash.h"
#include "base/rng.h"
#include "judge/problem/expr.h"
#include "judge/problem/generate.h"

#include <string.h>
#include <sys/mman.h>

static const uint64_t PART_BYTES = (uint64_t)4 << 20;
static const uint64_t HUGE_PAGE_BYTES = (uint64_t)1 << 21;
/* Two stretches per input, the first elements and some others: short, so that putting them in place
 * costs a few microseconds, and long enough to hold something new. */
enum { STRETCHES = 2, STRETCH_ELEMENTS = 16 };

static bool has_input(const struct problem *p, unsigned i)
{
    return p->params[i].kind == PARAM_BUFFER &&
           (p->params[i].role == WIRE_INPUT || p->params[i].role == WIRE_INOUT);
}

static bool has_output(const struct problem *p, unsigned i)
{
    return p->params[i].kind == PARAM_BUFFER &&
           (p->params[i].role == WIRE_OUTPUT || p->params[i].role == WIRE_INOUT);
}

/* ---- sizes ---- */

static const char *name_size(const struct problem *p, const int64_t *values, struct arena *arena)
{
    const char *name = "";
    for (unsigned v = 0; v < p->variable_count; v++)
        name = arena_printf(arena, "%s%s%s=%lld", name, v ? ", " : "", p->variables[v].name,
                            (long long)values[v]);
    return name;
}

static bool serves(const struct problem *p, const struct problem_case *c, const int64_t *values,
                   const struct case_buffer *buffers)
{
    struct err unused;
    for (unsigned i = 0; i < p->param_count; i++)
        if (has_input(p, i) &&
            (!c->inputs[i] || generator_is_literal(c->inputs[i]) ||
             generator_check(c->inputs[i], p->params[i].type, buffers[i].count, values, &unused)))
            return false;
    return true;
}

static uint64_t elements(const struct problem *p, const struct problem_case *c, struct arena *arena)
{
    struct case_data data;
    struct err unused;
    uint64_t all = 0;
    if (problem_case_sizes(p, c, 1, arena, &data, &unused) == 0)
        for (unsigned i = 0; i < p->param_count; i++)
            all += data.buffers[i].count;
    return all;
}

static const struct problem_case *choose_case(const struct problem *p, const int64_t *values,
                                              const struct case_buffer *buffers,
                                              struct arena *arena)
{
    const struct problem_case *best = NULL;
    uint64_t most = 0;
    for (unsigned i = 0; i < p->case_count; i++) {
        if (!serves(p, &p->cases[i], values, buffers))
            continue;
        uint64_t count = elements(p, &p->cases[i], arena);
        if (!best || count > most) {
            best = &p->cases[i];
            most = count;
        }
    }
    return best;
}

int data_init(struct size_data *s, const struct problem *p, const int64_t *values, uint64_t seed,
              uint64_t answer_elements, struct arena *arena, struct err *e)
{
    *s = (struct size_data){.values = values, .seed = seed, .arena = arena};
    s->inputs.fd = s->outputs.fd = -1;
    s->name = name_size(p, values, arena);
    s->instance = (struct problem_case){.name = s->name, .values = (int64_t *)(uintptr_t)values};
    struct expr_values v = {.variables = values};
    int64_t bytes;
    if (expr_eval(p->benchmark_bytes, &v, &bytes, e) != 0)
        return -1;
    s->bytes = (uint64_t)bytes;
    for (unsigned k = 0; k < SET_COUNT; k++) {
        struct data_set *set = &s->sets[k];
        set->size = s;
        if (problem_case_sizes(p, &s->instance, seed, arena, &set->data, e) != 0)
            return -1;
    }
    const struct case_buffer *buffers = s->sets[0].data.buffers;
    const struct problem_case *like = choose_case(p, values, buffers, arena);
    if (!like)
        return err_set(e, "%s: benchmark: no case has generators that serve the size %s", p->file,
                       s->name);
    s->instance.inputs = like->inputs;
    pthread_mutex_init(&s->lock, NULL);
    s->answer_elements = answer_elements;
    s->answer_parts = (unsigned)(oracle_part_elements(&s->sets[0].data) / answer_elements) + 1;
    for (unsigned k = 0; k < SET_COUNT; k++)
        s->sets[k].part_sums = arena_array(arena, s->answer_parts, sizeof(uint64_t));
    request_init(&s->request, &s->sets[0].data);
    s->set_bytes = s->request.in_bytes;
    for (unsigned i = 0; i < p->param_count; i++) {
        if (has_input(p, i) && (int64_t)buffers[i].count > s->n)
            s->n = (int64_t)buffers[i].count;
        if (has_output(p, i))
            s->answer_bytes += wire_align_up(buffers[i].bytes) + 64;
    }
    s->all_bytes =
        SET_COUNT * (s->set_bytes + s->answer_bytes) + OUTPUT_SLOTS * s->request.out_bytes;
    return 0;
}

/* ---- contents ---- */

/* A hash: who has seen the data of some calls must not be able to tell those of later ones. */
static uint64_t key_of(const struct size_data *s, uint64_t stream, unsigned param)
{
    return hash_seed(s->seed, s->instance.name, stream * WIRE_PARAMS_MAX + param);
}

static void fill_part(void *context, unsigned long number)
{
    const struct data_part *part = context;
    struct data_set *set = part->set;
    const struct problem *p = set->data.problem;
    const struct case_buffer *b = &set->data.buffers[part->param];
    uint64_t from = number * part->per_part;
    uint64_t to = b->count - from < part->per_part ? b->count : from + part->per_part;
    generator_fill_part(set->size->instance.inputs[part->param], p->params[part->param].type,
                        b->count, set->size->values,
                        key_of(set->size, part->set_index, part->param), from, to, b->input);
}

static void add_filling(struct size_data *s, unsigned k, unsigned param)
{
    struct data_part *part = &s->parts[k][param];
    const struct problem *p = s->sets[k].data.problem;
    uint64_t count = s->sets[k].data.buffers[param].count;
    *part = (struct data_part){&s->sets[k], k, param,
                               PART_BYTES / wire_type_bytes(p->params[param].type)};
    for (unsigned long i = 0; i * part->per_part < count; i++)
        pool_add(s->pool, fill_part, part, i, &s->making, NULL);
}

static int make_answers(struct size_data *s, struct data_set *set, struct err *e)
{
    const struct problem *p = set->data.problem;
    void *answers =
        mmap(NULL, s->answer_bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (answers == MAP_FAILED)
        return err_set_errno(e, "no memory for %llu bytes of expected answers",
                             (unsigned long long)s->answer_bytes);
    set->answers = answers;
    if (s->answer_bytes >= HUGE_PAGE_BYTES)
        madvise(answers, s->answer_bytes, MADV_HUGEPAGE); /* a wish */
    uint8_t *at = answers;
    for (unsigned i = 0; i < p->param_count; i++)
        if (has_output(p, i)) {
            set->data.buffers[i].expected = at;
            at += wire_align_up(set->data.buffers[i].bytes) + 64;
        }
    return 0;
}

static void touch_answers(void *context, unsigned long set)
{
    struct size_data *s = context;
    if (madvise(s->sets[set].answers, s->answer_bytes, MADV_POPULATE_WRITE) != 0)
        memset(s->sets[set].answers, 0, s->answer_bytes); /* an older kernel */
}

static int make_inputs(struct size_data *s, struct err *e)
{
    const struct problem *p = s->sets[0].data.problem;
    if (run_region_init(&s->inputs, SET_COUNT * s->set_bytes, false, e) != 0)
        return -1;
    for (unsigned k = 0; k < SET_COUNT; k++) {
        if (make_answers(s, &s->sets[k], e) != 0)
            return -1;
        pool_add(s->pool, touch_answers, s, k, &s->making, NULL);
        for (unsigned i = 0; i < p->param_count; i++)
            if (has_input(p, i)) {
                s->sets[k].data.buffers[i].input =
                    s->inputs.bytes + k * s->set_bytes + s->request.params[i].in_offset;
                add_filling(s, k, i);
            }
    }
    return 0;
}

/* The two halves may fail at the same time: one of them says why. */
enum { MAKE_INPUTS, MAKE_OUTPUTS };

static void make(void *context, unsigned long half)
{
    struct size_data *s = context;
    struct err e;
    int status = half == MAKE_INPUTS
                     ? make_inputs(s, &e)
                     : run_region_init(&s->outputs, OUTPUT_SLOTS * s->request.out_bytes, true, &e);
    if (status == 0)
        return;
    pthread_mutex_lock(&s->lock);
    s->make_status = -1;
    s->make_error = e;
    pthread_mutex_unlock(&s->lock);
}

void data_make(struct size_data *s, struct pool *pool)
{
    s->is_begun = true;
    s->pool = pool;
    pool_add(pool, make, s, MAKE_INPUTS, &s->making, NULL);
    pool_add(pool, make, s, MAKE_OUTPUTS, &s->making, NULL);
}

int data_wait(struct size_data *s, struct err *e)
{
    pool_wait(s->pool, &s->making);
    if (s->make_status != 0)
        *e = s->make_error;
    return s->make_status;
}

unsigned data_freshen(struct size_data *s, unsigned k, uint64_t round,
                      struct wire_patch patches[WIRE_PATCHES_MAX])
{
    struct data_set *set = &s->sets[k];
    const struct problem *p = set->data.problem;
    unsigned count = 0;
    for (unsigned i = 0; i < p->param_count; i++) {
        struct case_buffer *b = &set->data.buffers[i];
        if (!has_input(p, i) || b->count == 0)
            continue;
        const struct generator *g = s->instance.inputs[i];
        uint64_t key = key_of(s, SET_COUNT + round, i);
        bool mixes = generator_mixes(g);
        uint64_t length = mixes && b->count > STRETCH_ELEMENTS ? STRETCH_ELEMENTS : b->count;
        unsigned size = wire_type_bytes(p->params[i].type);
        for (unsigned j = 0; j < (mixes ? STRETCHES : 1) && count < WIRE_PATCHES_MAX; j++) {
            uint64_t from = j ? rng_below(key, j, b->count - length + 1) : 0;
            generator_fill_part(g, p->params[i].type, b->count, s->values, key, from, from + length,
                                b->input);
            patches[count++] = (struct wire_patch){i, from * size, length * size};
        }
    }
    return count;
}

/* ---- answers ---- */

static void take_from_reference(struct data_set *set)
{
    const struct problem *p = set->data.problem;
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct wire_param *w = &set->size->request.params[i];
        if (set->data.buffers[i].expected)
            memcpy(set->data.buffers[i].expected,
                   set->reference_outputs + w->out_offset + WIRE_GUARD_BYTES + w->misalign,
                   w->bytes);
    }
}

static void answer(void *context, unsigned long unused)
{
    struct data_set *set = context;
    struct err e;
    (void)unused;
    if (set->reference_outputs)
        take_from_reference(set);
    else if (oracle_expected(&set->data, &e) != 0)
        BUG("timing: %s", e.text); /* the plan has asked whether there is one */
}

static uint64_t part_end(const struct data_set *set, unsigned long part)
{
    return part + 1 < set->size->answer_parts ? (part + 1) * set->size->answer_elements
                                              : oracle_part_elements(&set->data);
}

static void sum_part(void *context, unsigned long part)
{
    struct data_set *set = context;
    set->part_sums[part] =
        oracle_part_sum(&set->data, part * set->size->answer_elements, part_end(set, part));
}

static void answer_part(void *context, unsigned long part)
{
    struct data_set *set = context;
    uint64_t before = 0;
    for (unsigned long k = 0; k < part; k++)
        before += set->part_sums[k];
    oracle_part_fill(&set->data, part * set->size->answer_elements, part_end(set, part), before);
}

void data_answer(struct size_data *s, unsigned k, const uint8_t *reference_outputs,
                 struct pool_group *region)
{
    struct data_set *set = &s->sets[k];
    set->reference_outputs = reference_outputs;
    if (reference_outputs || s->answer_parts == 1) {
        pool_add(s->pool, answer, set, 0, &set->answering, region);
        return;
    }
    for (unsigned part = 0; part < s->answer_parts; part++)
        pool_add(s->pool, sum_part, set, part, &set->summing, NULL);
    for (unsigned part = 0; part < s->answer_parts; part++)
        pool_add_after(s->pool, &set->summing, answer_part, set, part, &set->answering, NULL);
}

void data_wait_for_set(struct size_data *s, unsigned k)
{
    pool_wait(s->pool, &s->sets[k].answering);
    pool_wait(s->pool, &s->sets[k].busy);
}

void data_release(struct size_data *s)
{
    for (unsigned k = 0; k < SET_COUNT; k++) {
        struct data_set *set = &s->sets[k];
        if (set->answers)
            munmap(set->answers, s->answer_bytes + 1);
        set->answers = NULL;
    }
    run_region_release(&s->inputs);
    run_region_release(&s->outputs);
}
