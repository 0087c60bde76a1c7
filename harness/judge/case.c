/* One case: the passes of passes.def until one fails, each judged; then what more runs tell about
 * the failure (explain.c). */
#include "judge/case.h"

#include "base/file.h"
#include "base/hash.h"
#include "judge/card_profile.h"
#include "judge/costs.h"
#include "judge/gpu/assertion.h"
#include "judge/inspect.h"
#include "judge/problem/request.h"
#include "judge/sanitize.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PRINTED_MAX = 4096 }; /* bytes of what a submission printed that a result keeps per case */
/* Warp instructions per second of the time limit: a third of what the device does with all checks
 * on, so that a kernel that runs away is stopped with its line before the wall limit hits. */
static const uint64_t STEPS_PER_SECOND = 50000000;

static uint64_t elements_of(const struct case_data *data)
{
    uint64_t elements = 0;
    for (unsigned i = 0; i < data->problem->param_count; i++)
        elements += data->buffers[i].count;
    return elements;
}

void session_configure(const struct session *s, const struct prepared_case *c, const struct pass *p,
                       unsigned poison, struct wire_request *request)
{
    *request = c->request;
    request->memory_limit = s->problem->limits.memory_bytes;
    request->poison_seed = request_seed(&c->data, poison, "poison");
    struct wire_device_config *device = &request->device;
    device->schedule = p->schedule;
    device->checks = s->checks;
    if (!s->options->checks && elements_of(&c->data) > SIZE_GLOBAL_RACES)
        device->checks &= ~(uint32_t)WIRE_CHECK_GLOBAL_RACES;
    device->schedule_seed =
        p->is_seeded ? p->seed : request_seed(&c->data, p->number, "schedule") >> 11;
    device->host_threads = s->host_threads;
    device->step_limit = s->problem->limits.time_ns / 1000 * STEPS_PER_SECOND / 1000000;
    device->resident_blocks = p->resident_blocks;
    device->delay_stores = p->delay_stores;
    device->stream_order = p->stream_order;
    snprintf(device->source_file, sizeof device->source_file, "%s", file_base_name(s->source));
}

/* A card says cudaErrorAssert, and prints the rest. */
static void name_assertion(struct case_run *r)
{
    struct wire_finding f;
    for (unsigned i = 0; i < r->verdict.finding_count; i++)
        if (r->verdict.findings[i].kind == FINDING_cuda_error &&
            strncmp(r->verdict.findings[i].message, "cudaErrorAssert", 15) == 0 &&
            assertion_read(text_str(&r->errors), &f)) {
            r->verdict.findings[i] = f;
            return;
        }
}

/* Not asked again about the very same answer: most passes of a case give it. */
static int ask_checker(struct case_run *r, const struct wire_request *request, struct err *e)
{
    struct session *s = r->s;
    struct text said;
    bool accepted;
    struct hash outputs;
    hash_init(&outputs);
    for (unsigned i = 0; i < request->param_count; i++)
        if (problem_is_output(&s->problem->params[i])) {
            const struct wire_param *w = &request->params[i];
            hash_part(&outputs, r->outputs->bytes + w->out_offset + WIRE_GUARD_BYTES + w->misalign,
                      w->bytes);
        }
    uint64_t hash = hash_number(&outputs);
    if (hash == r->accepted_outputs)
        return 0;
    text_init(&said);
    int status =
        checker_judge(&s->checker, &r->c->data, request, r->outputs->bytes, &accepted, &said, e);
    if (status == 0 && accepted)
        r->accepted_outputs = hash;
    if (status == 0 && !accepted) {
        r->verdict.verdict = VERDICT_wrong_answer;
        r->verdict.check.diagnosis =
            arena_printf(s->arena, "the checker of this problem says: %.1000s",
                         said.length ? text_str(&said) : "wrong");
    }
    text_release(&said);
    return status;
}

int case_run_pass(struct case_run *r, const struct wire_request *request, struct err *e)
{
    const int fds[2] = {r->c->inputs.fd, r->outputs->fd};
    if (keeper_pass(&r->s->submission, request, fds, r->s->problem->limits.time_ns, &r->outcome,
                    &r->out, &r->errors, e) != 0)
        return -1;
    budget_spend(r->s->budget, r->outcome.used_ns);
    r->result->ms += (double)r->outcome.wall_ns / 1e6;
    verdict_of_pass(&r->c->data, request, &r->outcome, r->outputs->bytes, r->s->arena, &r->verdict);
    if (r->verdict.is_our_fault)
        return err_set(e, "%s", r->verdict.message);
    if (r->s->options->on_gpu)
        name_assertion(r);
    if (r->verdict.verdict == VERDICT_accepted && r->s->checker.program)
        return ask_checker(r, request, e);
    return 0;
}

static bool same_finding(const struct wire_finding *a, const struct wire_finding *b)
{
    return a->kind == b->kind && a->line == b->line && a->severity == b->severity &&
           strcmp(a->file, b->file) == 0 && (a->line != 0 || strcmp(a->message, b->message) == 0);
}

static void add_finding(struct session *s, struct result_case *result, const struct wire_finding *f)
{
    /* However many passes a search has, what fails the case is told. */
    enum { WARNINGS = PASS_COUNT * VERDICT_FINDINGS_MAX, ALL = WARNINGS + VERDICT_FINDINGS_MAX };
    for (unsigned i = 0; i < result->finding_count; i++)
        if (same_finding(&result->findings[i], f))
            return;
    if (result->finding_count >= (f->severity == WIRE_ERROR ? ALL : WARNINGS))
        return;
    if (!result->findings)
        result->findings = arena_array(s->arena, ALL, sizeof *result->findings);
    result->findings[result->finding_count++] = *f;
}

void case_add_finding(struct case_run *r, const struct wire_finding *f)
{
    add_finding(r->s, r->result, f);
}

static void take_findings(struct case_run *r)
{
    for (unsigned i = 0; i < r->verdict.finding_count; i++)
        add_finding(r->s, r->result, &r->verdict.findings[i]);
}

/* Would a hang say nothing new? What needs other blocks beside it hangs in any order of starting.
 */
static bool knows_hang(const struct case_run *r)
{
    for (unsigned i = 0; i < r->result->finding_count; i++)
        if (r->result->findings[i].kind == FINDING_co_residency)
            return true;
    return r->s->block_order_seen;
}

/* The last-block-first pass hung: right on every GPU that starts blocks in ascending order. */
static void warn_block_order(struct case_run *r)
{
    const struct wire_finding *hang = verdict_finding(&r->verdict, FINDING_deadlock);
    struct wire_finding f;
    wire_finding_set(
        &f, FINDING_block_order, WIRE_WARNING,
        "finishes only when blocks start in ascending order: when they start from the last one, "
        "with two resident at a time, it hangs. CUDA promises no order; an atomic ticket instead "
        "of blockIdx gives one");
    if (hang) {
        f.line = hang->line;
        memcpy(f.block, hang->block, sizeof f.block);
        memcpy(f.thread, hang->thread, sizeof f.thread);
        memcpy(f.file, hang->file, sizeof f.file);
        memcpy(f.kernel, hang->kernel, sizeof f.kernel);
    }
    add_finding(r->s, r->result, &f);
    r->s->block_order_seen = true;
}

static const char *join(struct arena *arena, const char *a, const char *b)
{
    if (!a || !b)
        return a ? a : b;
    return arena_printf(arena, "%s; %s", a, b);
}

static void describe_pass(const struct pass *p, const struct wire_device_config *device,
                          struct result_case *result)
{
    result->failing_schedule = wire_schedule_name(p->schedule);
    result->failing = (struct result_pass){
        .has_pass = true,
        .schedule = wire_schedule_key(p->schedule),
        .seed = device->schedule_seed,
        .found_by_search = p->is_seeded,
        .delay_stores = p->delay_stores,
        .resident_blocks = p->resident_blocks,
        .stream_order = wire_stream_order_key(p->stream_order),
    };
}

bool case_is_slow_hang(const struct case_run *r)
{
    enum { PART = 8 }; /* a hang that is understood at once takes a thousandth */
    return r->verdict.timed_out ||
           (r->verdict.hung && r->outcome.used_ns >= r->s->problem->limits.time_ns / PART);
}

static int report_failure(struct case_run *r, const struct pass *p,
                          const struct wire_request *request, struct err *e)
{
    struct session *s = r->s;
    struct result_case *result = r->result;
    result->verdict = r->verdict.verdict;
    if (work_is_small(r->c) && !s->options->on_gpu) /* a card has an order of its own */
        describe_pass(p, &request->device, result);
    const struct check_mismatch *m = &r->verdict.check.mismatch;
    result->mismatch = (struct result_mismatch){m->output, m->index, m->count, m->expected, m->got};
    s->timed_out_cases += case_is_slow_hang(r);
    const char *why;
    if (case_explain(r, p, &why, e) != 0)
        return -1;
    result->diagnosis =
        join(s->arena, why, join(s->arena, r->verdict.check.diagnosis, r->verdict.message));
    return 0;
}

bool case_gets_pass(const struct case_run *r, const struct pass *p)
{
    const struct pass_choice *only = &r->s->options->only;
    if (only->is_set)
        return p->schedule == only->schedule && !only->has_seed;
    if (p->number > 0 && (!work_is_small(r->c) || r->s->options->on_gpu))
        return false; /* a card has its own schedule */
    return !p->most_elements || elements_of(&r->c->data) <= p->most_elements;
}

/* One pass, judged, with these checks besides. *failed: the case's result is filled. */
static int judge_pass(struct case_run *r, const struct pass *p, uint32_t counters, bool *failed,
                      struct err *e)
{
    struct result_case *result = r->result;
    struct wire_request request;
    session_configure(r->s, r->c, p, p->number, &request);
    request.device.checks |= counters;
    if (case_run_pass(r, &request, e) != 0)
        return -1;
    result->passes++;
    if (p->number == 0 && !r->s->options->on_gpu && r->outcome.how == RUN_REPLIED &&
        r->outcome.reply.status == WIRE_DONE) {
        result->has_counters = true;
        result->counters = r->outcome.reply.counters;
    }
    if (p->hang == HANG_WARNS && r->verdict.hung) {
        warn_block_order(r);
        return 0;
    }
    take_findings(r);
    *failed = r->verdict.verdict != VERDICT_accepted;
    return *failed ? report_failure(r, p, &request, e) : 0;
}

/* The seeds that --schedules tries: the same for every judging with the same --seed. */
static uint64_t search_seed(const struct case_run *r, unsigned k)
{
    enum { SEEDS = 1000000000 };
    return request_seed(&r->c->data, k, "search") % SEEDS;
}

static unsigned search_count(const struct case_run *r)
{
    const struct judge_options *o = r->s->options;
    bool fits = elements_of(&r->c->data) <= SIZE_SEARCH || (o->case_name && work_is_small(r->c));
    return fits && !o->on_gpu && !o->only.is_set ? o->schedules : 0;
}

static int run_passes(struct case_run *r, struct err *e)
{
    struct session *s = r->s;
    struct result_case *result = r->result;
    const struct pass_choice *only = &s->options->only;
    bool is_limited = !s->options->on_gpu && costs_apply(s->problem, result->name);
    uint32_t counters = s->options->count ? WIRE_CHECK_COUNTERS
                        : is_limited      ? costs_checks(s->problem, result->name)
                                          : 0;
    bool failed = false;
    int status = 0;
    result->verdict = VERDICT_accepted;
    for (unsigned k = 0; k < PASS_COUNT && status == 0 && !failed; k++) {
        const struct pass *p = &PASSES[k];
        if (!case_gets_pass(r, p) || (p->hang == HANG_WARNS && knows_hang(r)))
            continue;
        if (budget_is_spent(s->budget)) {
            result->unfinished = true;
            return 0;
        }
        status = judge_pass(r, p, k == 0 ? counters : 0, &failed, e);
    }
    if (only->is_set && only->has_seed) {
        struct pass p = pass_of_seed(only->schedule, only->seed);
        status = judge_pass(r, &p, 0, &failed, e);
    }
    for (unsigned k = 0; k < search_count(r) && status == 0 && !failed; k++) {
        struct pass p = pass_of_seed(WIRE_INTERLEAVED, search_seed(r, k));
        status = judge_pass(r, &p, 0, &failed, e);
    }
    if (status != 0 || failed || !result->has_counters)
        return status;
    const char *cost = is_limited ? costs_exceeded(&r->c->data, &result->counters, s->arena) : NULL;
    if (cost) {
        result->verdict = VERDICT_cost_limit_exceeded;
        result->diagnosis = cost;
    }
    return 0;
}

static const char *quoted(struct arena *arena, const char *word)
{
    struct text t;
    text_init(&t);
    text_add_shell_word(&t, word);
    const char *copy = arena_strdup(arena, text_str(&t));
    text_release(&t);
    return copy;
}

/* The option that makes the judging again what it was, as far as checks and passes go. */
static const char *other_options(const struct session *s, const struct result_case *result)
{
    struct arena *a = s->arena;
    char checks[128];
    const struct pass_choice *only = &s->options->only;
    const char *list = "", *pass = "";
    if (s->options->checks && s->options->checks != WIRE_CHECK_DEFAULT) {
        wire_checks_print(s->options->checks, checks, sizeof checks);
        list = arena_printf(a, " --check %s", checks);
    }
    if (result->failing.found_by_search)
        pass = arena_printf(a, " --schedule %s:%" PRIu64, result->failing.schedule,
                            result->failing.seed);
    else if (only->is_set)
        pass = arena_printf(a, " --schedule %s", wire_schedule_key(only->schedule));
    return arena_printf(a, "%s%s%s%s", s->options->on_gpu ? " --device gpu" : "",
                        s->options->sanitize ? " --sanitize" : "", pass, list);
}

static const char *reproduce_command(const struct session *s, const struct result_case *result)
{
    struct arena *a = s->arena;
    const char *command = s->options->command ? s->options->command : "./judge.sh";
    const char *only =
        s->needs_earlier_cases ? "" : arena_printf(a, " --case %s", quoted(a, result->name));
    /* A name that begins with a dash would be read as an option. */
    return arena_printf(a, "%s run %s %s%s%s --seed %" PRIu64 "%s", quoted(a, command),
                        quoted(a, s->problem->id), s->source[0] == '-' ? "./" : "",
                        quoted(a, s->source), only, s->seed, other_options(s, result));
}

static const char *printed(struct arena *arena, const struct text *t)
{
    if (t->length <= PRINTED_MAX)
        return arena_strndup(arena, text_str(t), t->length);
    return arena_printf(arena, "%.*s\n[%zu more bytes]", PRINTED_MAX, t->data,
                        t->length - PRINTED_MAX);
}

/* What was asked for besides the verdict, of this one case. */
static int look_closer(struct case_run *r, struct err *e)
{
    int status = 0;
    if (!r->s->options->on_gpu)
        return inspect_case(r, e);
    if (r->s->sanitizer)
        status = sanitize_case(r, e);
    if (status == 0 && r->s->profiler)
        status = card_profile_case(r, e);
    return status;
}

int session_run_case(struct session *s, struct prepared_case *c, struct result_case *result,
                     struct err *e)
{
    *result = (struct result_case){.name = c->data.instance->name,
                                   .is_public = c->data.instance->is_public};
    struct case_run *r = arena_alloc(&c->arena, sizeof *r);
    *r = (struct case_run){.s = s, .c = c, .outputs = &c->outputs, .result = result};
    text_init(&r->out);
    text_init(&r->errors);
    keeper_begin_case(&s->submission);
    r->had_earlier_passes = s->submission.passes_before_case > 0;
    int status = run_passes(r, e);
    if (status == 0 && s->inspected && strcmp(s->inspected, result->name) == 0)
        status = look_closer(r, e);
    if (result->verdict != VERDICT_accepted)
        result->reproduce = reproduce_command(s, result);
    result->stdout_text = printed(s->arena, &r->out);
    result->stderr_text = printed(s->arena, &r->errors);
    text_release(&r->out);
    text_release(&r->errors);
    return status;
}
