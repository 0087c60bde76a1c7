/* The pipeline. While nvcc compiles the submission in one thread, another makes the cases' data and
 * expected answers (work.c); then the crew takes them through boxes of the submission. */
#include "judge/judge.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/rng.h"
#include "judge/compile/compile.h"
#include "judge/crew.h"
#include "judge/gpu/lock.h"
#include "judge/gpu/tools.h"
#include "judge/inspect.h"
#include "judge/near.h"
#include "judge/problem/suggest.h"
#include "judge/problem/target.h"
#include "judge/timed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t START_LIMIT_NS = 10000000000u; /* to load a library */
/* The same and a context; a driver that nobody keeps awake wakes all cards of the machine first. */
static const uint64_t CARD_START_LIMIT_NS = 60000000000u;

/* One run of nvcc in a thread. Its strings live in an arena of its own until the thread is joined.
 */
struct compile_job {
    const struct toolkit *toolkit;
    struct compile_spec spec;
    struct arena arena;
    struct compile_result result;
    struct err error;
    int status;
    pthread_t thread;
    bool started;
};

static void *compile_thread(void *context)
{
    struct compile_job *job = context;
    job->status = compile(job->toolkit, &job->spec, &job->arena, &job->result, &job->error);
    return NULL;
}

static void job_start(struct compile_job *job)
{
    arena_init(&job->arena);
    job->started = pthread_create(&job->thread, NULL, compile_thread, job) == 0;
    if (!job->started)
        compile_thread(job); /* no more threads: later is better than never */
}

static void job_join(struct compile_job *job)
{
    if (job->started)
        pthread_join(job->thread, NULL);
    job->started = false;
}

/* Everything of one judging that has to be ended again. */
struct judging {
    const struct judge_paths *paths;
    struct session session; /* of the first worker; the pattern for the others */
    struct problem problem;
    struct toolkit toolkit;
    const char *cudart; /* which libcudart.so.13 the runner loads */
    const char *target; /* what is compiled for */
    struct card_lock card;
    struct compile_job submission, reference, checker;
    struct timing_plan *timing; /* NULL: nothing is timed */
    struct work work;
    bool has_work;
    const struct problem_case **cases;
    unsigned case_count;
    struct result *result;
    uint64_t start_ns;
};

static void progress(const struct judging *j, const char *what, unsigned done, unsigned total)
{
    const struct judge_options *o = j->session.options;
    if (o->progress)
        o->progress(o->progress_context, what, done, total);
}

static int choose_cases(struct judging *j, struct err *e)
{
    const struct judge_options *o = j->session.options;
    const char *wanted = o->case_name;
    struct problem *p = &j->problem;
    struct arena *arena = j->session.arena;
    if (o->case_count) {
        p->case_count = o->case_count;
        p->cases = arena_array(arena, p->case_count, sizeof *p->cases);
        memcpy(p->cases, o->cases, p->case_count * sizeof *p->cases);
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    j->cases = arena_array(arena, p->case_count, sizeof j->cases[0]);
    for (unsigned i = 0; i < p->case_count; i++)
        if (!wanted || strcmp(p->cases[i].name, wanted) == 0)
            j->cases[j->case_count++] = &p->cases[i];
    if (j->case_count)
        return 0;
    if (!wanted)
        return err_set(e, "%s has no cases", p->file);
    const char **names = arena_array(arena, p->case_count, sizeof names[0]);
    for (unsigned i = 0; i < p->case_count; i++)
        names[i] = p->cases[i].name;
    if (strncmp(wanted, NEAR_PREFIX, strlen(NEAR_PREFIX)) == 0)
        return err_set(e,
                       "%s has no case named '%s' with this seed: sizes near public ones are drawn "
                       "from the seed; give --seed as the report that named the case did",
                       p->id, wanted);
    const char *near = suggest(wanted, names, p->case_count);
    return err_set(e, "%s has no case named '%s'%s%s%s", p->id, wanted,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* For expected answers, or to be timed against. */
static bool wants_reference(const struct judging *j)
{
    return j->session.use_reference || (j->timing && j->problem.reference);
}

static void start_compiling(struct judging *j)
{
    const struct problem *p = &j->problem;
    const struct judge_paths *paths = j->paths;
    struct compile_spec spec = {
        .source = j->session.source,
        .entry = p->entry,
        .prototype = problem_prototype(p, j->session.arena),
        .target = j->target,
        .forbid_headers = p->rules.forbid_headers,
        .forbid_header_count = p->rules.forbid_header_count,
        .forbid_kernels = p->rules.forbid_kernels,
        .forbid_kernel_count = p->rules.forbid_kernel_count,
        .keep_out = paths->root,
        .cache_folder = paths->cache,
        .limit_ns = p->limits.compile_ns,
        .log_bytes = (uint64_t)64 << 10,
    };
    j->submission.toolkit = &j->toolkit;
    j->submission.spec = spec;
    job_start(&j->submission);
    if (p->checker) {
        j->checker.toolkit = &j->toolkit;
        checker_compile_spec(p, paths->root, paths->cache, j->session.arena, &j->checker.spec);
        job_start(&j->checker);
    }
    if (!wants_reference(j))
        return;
    spec.source = arena_printf(j->session.arena, "%s/reference/%s/%s", paths->root, p->id,
                               p->reference ? p->reference : "");
    spec.forbid_header_count = spec.forbid_kernel_count = 0; /* the rules are for students */
    spec.keep_out = NULL;
    j->reference.toolkit = &j->toolkit;
    j->reference.spec = spec;
    job_start(&j->reference);
}

/* The first line of a compiler's log that tells an error. */
static const char *first_error(const char *log, struct arena *arena)
{
    for (const char *line = log; line && *line;) {
        size_t length = strcspn(line, "\n");
        const char *hit = memmem(line, length, "error", 5);
        if (hit)
            return arena_strndup(arena, line, length);
        line += length + (line[length] == '\n');
    }
    return "the submission does not compile";
}

static int judge_error(struct judging *j, const struct err *e)
{
    j->result->verdict = VERDICT_judge_error;
    j->result->message = arena_strdup(j->session.arena, e->text);
    return 0;
}

static struct run_spec run_spec_of(const struct judging *j, const char *library)
{
    struct run_spec spec = {
        .runner = j->paths->runner,
        .cudart = j->cudart,
        .library = library,
        .entry = j->problem.entry,
        .start_limit_ns = START_LIMIT_NS,
        .memory_bytes = j->problem.limits.memory_bytes,
        .output_bytes = j->problem.limits.output_bytes,
    };
    if (j->session.options->on_gpu) {
        spec.card = j->card.card->uuid;
        spec.libraries = j->card.card->libraries;
        spec.meter = j->paths->meter;
        spec.memory_bytes = 0; /* the driver reserves far more than it uses */
        spec.start_limit_ns = CARD_START_LIMIT_NS;
    }
    /* The limit is meant for what the submission takes; the device itself needs some as well. */
    if (spec.memory_bytes)
        spec.memory_bytes += (uint64_t)512 << 20;
#ifdef SJ_SANITIZED
    spec.memory_bytes = 0; /* sanitizers need terabytes of shadow */
#endif
    return spec;
}

/* One judging at a time per card. Taken when everything that needs none is done. */
static int take_card(struct judging *j, struct err *e)
{
    const struct judge_options *o = j->session.options;
    if (!o->on_gpu)
        return 0;
    j->card.card = &o->cards->items[0];
    if (!o->share_card && card_lock_take(o->cards, j->paths->locks, j->session.arena, o->waiting,
                                         o->progress_context, &j->card, e) != 0)
        return -1;
    j->result->card = j->card.card->name;
    j->result->card_uuid = j->card.card->uuid;
    return 0;
}

/* Waits for nvcc. 1: go on, 0: `result` is final. */
static int finish_compiling(struct judging *j)
{
    struct arena *arena = j->session.arena;
    struct result *result = j->result;
    job_join(&j->submission);
    job_join(&j->reference);
    job_join(&j->checker);
    const struct compile_result *c = &j->submission.result;
    if (j->submission.status != 0)
        return judge_error(j, &j->submission.error);
    result->compile =
        (struct result_compile){.ok = c->ok,
                                .cached = c->cached,
                                .ms = (double)c->wall_ns / 1e6,
                                .log = arena_strdup(arena, c->log ? c->log : ""),
                                .library = c->ok ? arena_strdup(arena, c->library) : NULL};
    if (!c->ok) {
        result->verdict = VERDICT_compile_error;
        result->message = c->timed_out
                              ? arena_printf(arena, "the compiler was not done after %.3g s",
                                             (double)j->problem.limits.compile_ns / 1e9)
                              : first_error(result->compile.log, arena);
        return 0;
    }
    struct err e;
    if (j->problem.checker && checker_take(&j->session.checker, &j->checker.spec, j->checker.status,
                                           &j->checker.result, &j->checker.error, arena, &e) != 0)
        return judge_error(j, &e);
    j->session.checker.cudart = j->paths->cudart;
    if (take_card(j, &e) != 0)
        return judge_error(j, &e);
    j->session.submission.spec = run_spec_of(j, arena_strdup(arena, c->library));
    if (!wants_reference(j))
        return 1;
    const struct compile_result *r = &j->reference.result;
    if (j->reference.status != 0)
        return judge_error(j, &j->reference.error);
    if (!r->ok) {
        err_set(&e, "the reference %s does not compile: %s", j->reference.spec.source,
                first_error(r->log ? r->log : "", arena));
        return judge_error(j, &e);
    }
    j->session.reference.spec = run_spec_of(j, arena_strdup(arena, r->library));
    return 1;
}

static int find_tool(const struct judging *j, const char *name, const char *option,
                     const char **path, struct err *e)
{
    *path = tool_find(name, j->toolkit.home, j->session.arena);
    if (*path)
        return 0;
    return err_set(e,
                   "%s needs %s, which is neither in PATH nor in %s/bin: install the CUDA Toolkit "
                   "with its tools, or leave %s out",
                   option, name, j->toolkit.home, option);
}

static int find_tools(struct judging *j, struct err *e)
{
    const struct judge_options *o = j->session.options;
    if (o->sanitize &&
        find_tool(j, "compute-sanitizer", "--sanitize", &j->session.sanitizer, e) != 0)
        return -1;
    return o->profile ? find_tool(j, "ncu", "--profile on a card", &j->session.profiler, e) : 0;
}

/* On a card: its own code, so that the driver has nothing to compile when a box starts. */
static int find_gpu_parts(struct judging *j, struct err *e)
{
    unsigned capability = cards_capability(j->session.options->cards);
    j->cudart =
        j->paths->gpu_cudart ? j->paths->gpu_cudart : toolkit_cudart(&j->toolkit, j->session.arena);
    if (!j->cudart)
        return err_set(e,
                       "the CUDA Toolkit in %s has no libcudart.so.13: install its cudart package",
                       j->toolkit.home);
    if (find_tools(j, e) != 0)
        return -1;
    j->target = target_for_card(j->problem.target, capability);
    if (!j->target)
        return err_set(e,
                       "%s needs a card of compute capability %.1f, and this one has %.1f; "
                       "--device cpu needs none",
                       j->problem.id, strtod(j->problem.target, NULL) / 10, capability / 10.0);
    return 0;
}

/* Without them every submission would seem to fail by itself. */
static int check_parts(struct judging *j, struct err *e)
{
    const struct judge_paths *paths = j->paths;
    if (toolkit_find(paths->cache, j->session.arena, &j->toolkit, e) != 0)
        return -1;
    j->cudart = paths->cudart;
    j->target = j->problem.target;
    if (j->session.options->on_gpu && find_gpu_parts(j, e) != 0)
        return -1;
    const char *parts[] = {paths->runner, j->cudart,
                           j->session.options->on_gpu ? paths->meter : NULL};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i] && !file_exists(parts[i]))
            return err_set(e, "%s is missing: build the judge again, or run ./judge.sh doctor",
                           parts[i]);
    return 0;
}

/* The text that a profile is told along. */
static int load_source(struct judging *j, struct err *e)
{
    enum { MOST = 1 << 20 };
    struct text source;
    text_init(&source);
    int status = file_read(j->session.source, MOST, &source, e);
    if (status == 0)
        j->result->source = arena_strndup(j->session.arena, text_str(&source), source.length);
    text_release(&source);
    return status;
}

static int time_it(struct judging *j, struct err *e)
{
    const struct session *s = &j->session;
    return timed_finish(j->timing, s->options, &j->problem, &s->submission.spec,
                        j->problem.reference ? &s->reference.spec : NULL, j->paths->nvml,
                        s->options->on_gpu ? j->card.card->uuid : NULL, s->arena, j->result, e);
}

/* A checker that is not there is a fault of the spec. */
static int check_checker(const struct judging *j, struct err *e)
{
    const struct problem *p = &j->problem;
    if (!p->checker)
        return 0;
    struct arena *a = j->session.arena;
    const char *name = arena_printf(a, "%s/%s", p->folder, p->checker);
    if (file_exists(arena_printf(a, "%s/%s", j->paths->root, name)))
        return 0;
    return err_set(e, "%s: checker: found '%s', but there is no file %s", p->file, p->checker,
                   name);
}

/* Whether anything may be run here, before anything is. */
static int begin_isolation(struct judging *j, struct err *e)
{
    if (sandbox_setup(e) != 0)
        return -1;
    j->result->isolation = sandbox_isolation();
    return 0;
}

/* When the first processes of the boxes have been started already: what is judged runs in children
 * of theirs, and cannot have come by a seed that there was not. What they are told later is words
 * that do not depend on it (judge/run), and the data. Where bubblewrap turns out to be of no use
 * here, and for boxes that take the place of dead ones, only the latter holds. */
static void draw_seed(struct judging *j)
{
    const struct judge_options *o = j->session.options;
    j->session.seed = j->result->seed = o->seed ? o->seed : rng_secret_seed();
}

static int judge_all(struct judging *j, const char *problem_id, struct err *e)
{
    struct session *s = &j->session;
    if (problem_load(j->paths->root, problem_id, s->arena, &j->problem, e) != 0 ||
        compile_check_source(s->source, e) != 0 || check_checker(j, e) != 0)
        return -1;
    if (!s->options->compile_only)
        run_start_ahead(s->options->on_gpu,
                        s->options->on_gpu ? s->options->cards->items[0].libraries
                                           : NULL); /* the crew wants two; one is tried anyway */
    draw_seed(j);
    near_add(&j->problem, s->seed, s->arena);
    if (choose_cases(j, e) != 0)
        return -1;
    s->problem = &j->problem;
    s->cpu_cudart = j->paths->cudart;
    s->use_reference = s->options->reference_as_oracle || !j->problem.oracle;
    struct err fault;
    if (check_parts(j, &fault) != 0)
        return judge_error(j, &fault);
    if (s->options->compile_only) {
        if (begin_isolation(j, &fault) != 0)
            return judge_error(j, &fault);
        start_compiling(j);
        finish_compiling(j);
        return 0;
    }
    j->has_work = true;
    if (work_init(&j->work, &j->problem, j->cases, j->case_count, s->seed, !s->use_reference,
                  s->arena, e) != 0)
        return -1;
    s->inspected = inspect_choose(&j->work, s->options);
    if (s->inspected && load_source(j, e) != 0)
        return -1;
    if (timed_is_wanted(s->options, &j->problem) &&
        timed_begin(s->options, &j->problem, s->seed, s->use_reference, s->arena, &j->timing, e) !=
            0)
        return -1;
    progress(j, "compiling", 0, 1);
    start_compiling(j);
    work_start(&j->work);
    if (begin_isolation(j, &fault) != 0)
        return judge_error(j, &fault);
    if (!finish_compiling(j))
        return 0;
    if (crew_run(s, &j->work, j->result, &fault) != 0 ||
        (j->timing && j->result->verdict == VERDICT_accepted && time_it(j, &fault) != 0))
        return judge_error(j, &fault);
    return 0;
}

/* Two boxes of each judging work side by side (crew.c) and share the processors. */
static uint32_t threads_of_a_box(unsigned judgings)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long boxes = 2L * (judgings ? judgings : 1);
    return processors >= 2 * boxes ? (uint32_t)(processors / boxes) : 1;
}

int judge_submission(const struct judge_paths *paths, const char *problem_id, const char *source,
                     const struct judge_options *options, struct arena *arena,
                     struct result *result, struct err *e)
{
    uint64_t start = clock_now_ns();
    /* Messages are long, and results point at the problem's strings: both live in the arena. */
    struct judging *j = arena_alloc(arena, sizeof *j);
    j->card.fd = -1;
    *result = (struct result){.problem = arena_strdup(arena, problem_id),
                              .submission = arena_strdup(arena, source),
                              .device = options->on_gpu ? "gpu" : "cpu",
                              .compile = {.log = ""}};
    j->result = result;
    j->paths = paths;
    j->session = (struct session){.options = options, .source = result->submission, .arena = arena};
    j->session.host_threads = threads_of_a_box(options->side_by_side);
    j->session.checks = options->checks ? options->checks : WIRE_CHECK_DEFAULT;
    int status = judge_all(j, problem_id, e);
    job_join(&j->submission);
    job_join(&j->reference);
    job_join(&j->checker);
    if (j->has_work)
        work_release(&j->work);
    timing_plan_free(j->timing);
    card_lock_release(&j->card);
    arena_release(&j->submission.arena);
    arena_release(&j->reference.arena);
    arena_release(&j->checker.arena);
    result->total_ms = (double)(clock_now_ns() - start) / 1e6;
    return status;
}
