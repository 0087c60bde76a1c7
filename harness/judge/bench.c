/* How it works: all files are compiled side by side, then judge/timing lets them take turns on the
 * card. Its measurement ends with the first timed call that fails: whoever failed is left out, and
 * the others begin again. */
#include "judge/bench.h"

#include "base/file.h"
#include "base/rng.h"
#include "judge/compile/compile.h"
#include "judge/gpu/lock.h"
#include "judge/problem/target.h"
#include "judge/timing/timing.h"
#include "judge/verdict.h"

#include <glob.h>
#include <pthread.h>
#include <string.h>

static const uint64_t START_LIMIT_NS = 60000000000u; /* a context on each card of the machine */

enum role { ROLE_COPY, ROLE_REFERENCE, ROLE_RUNG, ROLE_RIVAL, ROLE_SUBMISSION };
static const struct {
    const char *name;
    enum timing_role timed_as;
} ROLES[] = {{"copy", TIMING_COPY},
             {"reference", TIMING_REFERENCE},
             {"rung", TIMING_RIVAL},
             {"rival", TIMING_RIVAL},
             {"submission", TIMING_SUBMISSION}};

struct contestant {
    enum role role;
    const char *label, *source; /* source NULL: the copy */
    struct compile_spec spec;
    const struct toolkit *toolkit;
    struct arena arena; /* of the compiling thread */
    struct compile_result result;
    struct err error;
    int status;
    pthread_t thread;
    bool has_thread;
    const char *failed;
};

struct benching {
    const struct judge_paths *paths;
    const struct bench_call *call;
    const struct judge_options *options;
    struct problem problem;
    struct toolkit toolkit;
    const char *cudart, *target;
    struct contestant *contestants;
    unsigned count;
    struct card_lock card;
    struct arena *arena;
};

/* ---- who takes part ---- */

static void add(struct benching *b, enum role role, const char *source)
{
    struct contestant *c = &b->contestants[b->count++];
    *c = (struct contestant){
        .role = role, .source = source, .label = source ? file_base_name(source) : "copy"};
    arena_init(&c->arena);
}

/* Two files of one name in different folders get their folders back. */
static void tell_apart(struct benching *b)
{
    for (unsigned i = 0; i < b->count; i++)
        for (unsigned k = 0; k < b->count; k++)
            if (i != k && b->contestants[k].source &&
                strcmp(b->contestants[i].label, b->contestants[k].label) == 0)
                b->contestants[k].label = b->contestants[k].source;
}

static bool is_slow_by_design(const char *path)
{
    return strcmp(file_base_name(path), "serial.cu") == 0;
}

static int gather(struct benching *b, struct err *e)
{
    const struct bench_call *call = b->call;
    glob_t rungs;
    const char *pattern =
        arena_printf(b->arena, "%s/reference/%s/*.cu", b->paths->root, b->problem.id);
    if (glob(pattern, 0, NULL, &rungs) != 0)
        rungs = (glob_t){0};
    b->contestants =
        arena_array(b->arena, 1 + rungs.gl_pathc + call->file_count + call->rival_count,
                    sizeof *b->contestants);
    add(b, ROLE_COPY, NULL);
    for (size_t i = 0; i < rungs.gl_pathc; i++) {
        const char *path = arena_strdup(b->arena, rungs.gl_pathv[i]);
        bool is_reference =
            b->problem.reference && strcmp(file_base_name(path), b->problem.reference) == 0;
        if (is_reference || call->all_rungs || !is_slow_by_design(path))
            add(b, is_reference ? ROLE_REFERENCE : ROLE_RUNG, path);
    }
    globfree(&rungs);
    for (unsigned i = 0; i < call->rival_count; i++)
        add(b, ROLE_RIVAL, call->rivals[i]);
    for (unsigned i = 0; i < call->file_count; i++)
        add(b, ROLE_SUBMISSION, call->files[i]);
    tell_apart(b);
    for (unsigned i = 0; i < b->count; i++)
        if (b->contestants[i].source && compile_check_source(b->contestants[i].source, e) != 0)
            return -1;
    return 0;
}

/* ---- compiling ---- */

static void *compile_one(void *context)
{
    struct contestant *c = context;
    c->status = compile(c->toolkit, &c->spec, &c->arena, &c->result, &c->error);
    return NULL;
}

static void wait_for(struct contestant *c)
{
    if (c->has_thread)
        pthread_join(c->thread, NULL);
    c->has_thread = false;
}

static int compile_all(struct benching *b, struct err *e)
{
    enum { AT_A_TIME = 8 };
    const struct problem *p = &b->problem;
    int status = 0;
    for (unsigned i = 1; i < b->count; i++) {
        if (i > AT_A_TIME)
            wait_for(&b->contestants[i - AT_A_TIME]);
        struct contestant *c = &b->contestants[i];
        c->toolkit = &b->toolkit;
        c->spec = (struct compile_spec){
            .source = c->source,
            .entry = p->entry,
            .prototype = problem_prototype(p, b->arena),
            .target = b->target,
            .cache_folder = b->paths->cache,
            .limit_ns = p->limits.compile_ns,
            .log_bytes = (uint64_t)64 << 10,
        };
        if (c->role == ROLE_SUBMISSION) { /* the rules are for students */
            c->spec.forbid_headers = p->rules.forbid_headers;
            c->spec.forbid_header_count = p->rules.forbid_header_count;
            c->spec.forbid_kernels = p->rules.forbid_kernels;
            c->spec.forbid_kernel_count = p->rules.forbid_kernel_count;
            c->spec.keep_out = b->paths->root;
        }
        c->has_thread = pthread_create(&c->thread, NULL, compile_one, c) == 0;
        if (!c->has_thread)
            compile_one(c);
    }
    for (unsigned i = 1; i < b->count; i++) {
        struct contestant *c = &b->contestants[i];
        wait_for(c);
        if (c->status != 0 && status == 0) {
            *e = c->error;
            status = -1;
        }
        if (c->status == 0 && !c->result.ok)
            c->failed = arena_printf(b->arena, "it does not compile: %.600s",
                                     c->result.log ? c->result.log : "");
        if (c->failed && c->role == ROLE_REFERENCE && status == 0)
            status = err_set(e, "the reference %s: %.800s", c->label, c->failed);
    }
    return status;
}

/* ---- timing ---- */

static const char *flags_of(const struct timing_series *s, struct arena *arena)
{
    const char *flags = "";
    for (unsigned i = 0; i < s->finding_count; i++)
        flags = arena_printf(arena, "%s%s%s", flags, i ? ", " : "",
                             finding_name((enum finding_kind)s->findings[i].kind));
    return flags;
}

static void take_point(const struct timing_series *s, struct arena *arena, struct bench_point *p)
{
    *p = (struct bench_point){.known = s->rounds > 0,
                              .too_noisy = s->too_noisy,
                              .ms = s->median_ms,
                              .gb_per_s = s->gb_per_s,
                              .of_copy = s->of_copy,
                              .ratio = s->ratio.value,
                              .ratio_low = s->ratio.low,
                              .ratio_high = s->ratio.high,
                              .flags = flags_of(s, arena)};
}

/* timed[k]: the contestant that was the k-th entrant. */
static void take_timing(struct benching *b, const struct timing *timing, const unsigned *timed,
                        unsigned timed_count, struct bench *bench)
{
    bench->size_count = timing->size_count;
    bench->sizes = arena_array(b->arena, timing->size_count, sizeof *bench->sizes);
    bench->entrant_count = b->count;
    bench->entrants = arena_array(b->arena, b->count, sizeof *bench->entrants);
    for (unsigned i = 0; i < b->count; i++)
        bench->entrants[i] = (struct bench_entrant){
            .label = b->contestants[i].label,
            .role = ROLES[b->contestants[i].role].name,
            .failed = b->contestants[i].failed,
            .points = arena_array(b->arena, timing->size_count, sizeof(struct bench_point))};
    for (unsigned s = 0; s < timing->size_count; s++) {
        const struct timing_size *size = &timing->sizes[s];
        bench->sizes[s] = (struct bench_size){
            .name = size->name, .n = size->n, .bytes = size->bytes, .note = size->note};
        for (unsigned k = 0; k < timed_count && size->entrants; k++)
            take_point(&size->entrants[k], b->arena, &bench->entrants[timed[k]].points[s]);
    }
}

static const char *describe_fault(const struct benching *b, const struct timing_fault *fault)
{
    struct pass_verdict *v = arena_alloc(b->arena, sizeof *v);
    struct case_data data = {.problem = &b->problem};
    if (fault->outcome.how == RUN_REPLIED && fault->outcome.reply.status == WIRE_DONE) {
        const struct check_mismatch *m = &fault->check.mismatch;
        return m->output
                   ? arena_printf(b->arena, "wrong at %s: %s[%llu] is %s, expected %s", fault->size,
                                  m->output, (unsigned long long)m->index, m->got, m->expected)
                   : arena_printf(b->arena, "it failed at %s", fault->size);
    }
    verdict_of_pass(&data, NULL, &fault->outcome, NULL, b->arena, v);
    return arena_printf(b->arena, "%s at %s%s%s", verdict_for_people(v->verdict), fault->size,
                        v->finding_count ? ": " : "",
                        v->finding_count ? v->findings[0].message : "");
}

static struct run_spec spec_of(const struct benching *b, const struct contestant *c)
{
    return (struct run_spec){
        .runner = b->paths->runner,
        .cudart = b->cudart,
        .library = c->source ? c->result.library : "",
        .entry = c->source ? b->problem.entry : "",
        .card = b->card.card->uuid,
        .libraries = b->card.card->libraries,
        .start_limit_ns = START_LIMIT_NS,
        .output_bytes = b->problem.limits.output_bytes,
    };
}

/* One measurement of all that have not failed. *again: somebody failed, and there are others. */
static int measure(struct benching *b, struct bench *bench, bool *again, struct err *e)
{
    const struct judge_options *o = b->options;
    struct timing_options options = {.seed = bench->seed,
                                     .reference_answers = !b->problem.oracle,
                                     .progress = o->progress,
                                     .progress_context = o->progress_context};
    struct timing_entrant *entrants = arena_array(b->arena, b->count, sizeof *entrants);
    unsigned *timed = arena_array(b->arena, b->count, sizeof *timed), count = 0;
    for (unsigned i = 0; i < b->count; i++) {
        struct contestant *c = &b->contestants[i];
        if (c->failed)
            continue;
        timed[count] = i;
        entrants[count++] =
            (struct timing_entrant){c->label, ROLES[c->role].timed_as, spec_of(b, c)};
    }
    struct timing_plan *plan = timing_plan_new(&b->problem, &options, b->arena, e);
    if (!plan)
        return -1;
    struct timing *timing = arena_alloc(b->arena, sizeof *timing);
    int status = timing_measure(plan, entrants, count, b->arena, timing, e);
    timing_plan_free(plan);
    if (status != 0)
        return -1;
    *again = timing->fault != NULL;
    if (*again)
        b->contestants[timed[timing->fault->entrant]].failed = describe_fault(b, timing->fault);
    take_timing(b, timing, timed, count, bench);
    return 0;
}

static int prepare(struct benching *b, struct err *e)
{
    const struct cards *cards = b->options->cards;
    if (toolkit_find(b->paths->cache, b->arena, &b->toolkit, e) != 0)
        return -1;
    b->cudart = b->paths->gpu_cudart ? b->paths->gpu_cudart : toolkit_cudart(&b->toolkit, b->arena);
    if (!b->cudart)
        return err_set(e,
                       "the CUDA Toolkit in %s has no libcudart.so.13: install its cudart package",
                       b->toolkit.home);
    b->target = target_for_card(b->problem.target, cards_capability(cards));
    if (!b->target)
        return err_set(e, "%s needs compute capability %s, and this card has %u", b->problem.id,
                       b->problem.target, cards_capability(cards));
    return 0;
}

static int run_all(struct benching *b, struct bench *bench, bool *is_call, struct err *e)
{
    const struct judge_options *o = b->options;
    *is_call = true;
    if (problem_load(b->paths->root, b->call->problem, b->arena, &b->problem, e) != 0 ||
        gather(b, e) != 0)
        return -1;
    if (!b->problem.benchmark_count)
        return err_set(e, "%s says nothing of `benchmark:`, so there are no sizes to time",
                       b->problem.file);
    *is_call = false;
    if (o->progress)
        o->progress(o->progress_context, "compiling", 0, 1);
    if (prepare(b, e) != 0 || compile_all(b, e) != 0 ||
        card_lock_take(o->cards, b->paths->locks, b->arena, o->waiting, o->progress_context,
                       &b->card, e) != 0)
        return -1;
    *bench = (struct bench){.problem = b->problem.id,
                            .card = b->card.card->name,
                            .driver = o->cards->driver,
                            .seed = o->seed ? o->seed : rng_secret_seed()};
    bool again = true;
    while (again)
        if (measure(b, bench, &again, e) != 0)
            return -1;
    return 0;
}

int bench_run(const struct judge_paths *paths, const struct bench_call *call,
              const struct judge_options *options, struct arena *arena, struct bench *bench,
              bool *is_call, struct err *e)
{
    struct benching *b = arena_alloc(arena, sizeof *b);
    *b = (struct benching){
        .paths = paths, .call = call, .options = options, .card = {.fd = -1}, .arena = arena};
    int status = run_all(b, bench, is_call, e);
    card_lock_release(&b->card);
    for (unsigned i = 0; i < b->count; i++)
        arena_release(&b->contestants[i].arena);
    return status;
}
