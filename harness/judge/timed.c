/* The submission, the reference and a plain copy take turns (judge/timing). */
#include "judge/timed.h"

#include "judge/clocks.h"
#include "judge/compile/elf.h"
#include "judge/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool timed_is_wanted(const struct judge_options *o, const struct problem *p)
{
    if (p->benchmark_count == 0 || o->case_name || o->no_timing)
        return false;
    return o->timing.without_card || (o->on_gpu && !o->share_card);
}

int timed_begin(const struct judge_options *options, const struct problem *problem, uint64_t seed,
                bool reference_answers, struct arena *arena, struct timing_plan **plan,
                struct err *e)
{
    struct timing_options o = {.seed = seed,
                               .reference_answers = reference_answers,
                               .flush_bytes = options->timing.flush_bytes,
                               .budget_ns = options->timing.budget_ns,
                               .answer_elements = options->timing.answer_elements,
                               .progress = options->progress,
                               .progress_context = options->progress_context};
    *plan = timing_plan_new(problem, &o, arena, e);
    return *plan ? 0 : -1;
}

/* ---- into the result ---- */

enum { SUBMISSION, COPY, REFERENCE, ENTRANTS_MAX };

static void take_size(const struct timing_size *s, bool has_reference, struct arena *arena,
                      struct result_timing *t)
{
    *t = (struct result_timing){.n = s->n, .size = s->name, .note = s->note, .bytes = s->bytes};
    if (!s->entrants)
        return;
    const struct timing_series *own = &s->entrants[SUBMISSION];
    t->ms = own->median_ms;
    t->deviation_ms = own->deviation_ms;
    t->gb_per_s = own->gb_per_s;
    t->of_copy = own->of_copy;
    t->copy_ms = s->entrants[COPY].median_ms;
    t->rounds = own->rounds;
    t->findings = own->findings;
    t->finding_count = own->finding_count;
    t->samples = own->ms;
    if (has_reference) {
        t->reference_ms = s->entrants[REFERENCE].median_ms;
        t->reference_samples = s->entrants[REFERENCE].ms;
        t->ratio = own->ratio.value;
        t->ratio_low = own->ratio.low;
        t->ratio_high = own->ratio.high;
        t->too_noisy = own->too_noisy;
    }
    t->has_clocks = s->clocks.known;
    t->sm_mhz_low = s->clocks.sm_mhz_low;
    t->sm_mhz_high = s->clocks.sm_mhz_high;
    t->memory_mhz = s->clocks.memory_mhz;
    t->throttled = clocks_throttled_by(s->clocks.throttle_reasons, arena);
}

/* Told once, beside the first times. */
static int note_interposed(const char *library, struct arena *arena, struct result *result,
                           struct err *e)
{
    char name[ELF_NAME_BYTES];
    if (elf_interposes(library, name, e) != 0)
        return -1;
    if (!name[0] || result->timing_count == 0)
        return 0;
    struct result_timing *t = &result->timing[0];
    struct wire_finding *all = arena_array(arena, t->finding_count + 1, sizeof *all);
    if (t->finding_count)
        memcpy(all + 1, t->findings, t->finding_count * sizeof *all);
    wire_finding_set(
        &all[0], FINDING_interposed, WIRE_WARNING,
        "the compiled submission exports a function %s of its own. The judge does not call it, "
        "but libraries in the same process may",
        name);
    t->findings = all;
    t->finding_count++;
    return 0;
}

static const char *why_wrong(const struct timing_fault *fault, struct arena *arena)
{
    const char *how = arena_printf(
        arena,
        "right in every case, wrong in timed call %u: data is new, outputs are overwritten, and no "
        "call may leave work to another one",
        fault->call);
    return fault->check.diagnosis ? arena_printf(arena, "%s; %s", how, fault->check.diagnosis)
                                  : how;
}

/* A timed call that failed, as one more case. */
static void add_fault(const struct timing_fault *fault, const struct problem *problem,
                      const struct judge_options *options, struct arena *arena,
                      struct result *result)
{
    struct result_case *cases = arena_array(arena, result->case_count + 1, sizeof *cases);
    memcpy(cases, result->cases, result->case_count * sizeof *cases);
    result->cases = cases;
    struct result_case *c = &cases[result->case_count++];
    *c = (struct result_case){.name = arena_printf(arena, "timed, %s", fault->size),
                              .passes = 1,
                              .ms = (double)fault->outcome.wall_ns / 1e6,
                              .stdout_text = "",
                              .stderr_text = ""};
    c->reproduce = arena_printf(arena, "%s run %s %s --seed %" PRIu64,
                                options->command ? options->command : "./judge.sh", problem->id,
                                result->submission, result->seed);
    struct pass_verdict *v = arena_alloc(arena, sizeof *v);
    if (fault->outcome.how == RUN_REPLIED && fault->outcome.reply.status == WIRE_DONE) {
        const struct check_mismatch *m = &fault->check.mismatch;
        c->verdict = m->output ? VERDICT_wrong_answer : VERDICT_run_time_error;
        c->mismatch = (struct result_mismatch){m->output, m->index, m->count, m->expected, m->got};
        c->diagnosis = why_wrong(fault, arena);
        c->finding_count = fault->check.finding_count;
        c->findings = arena_array(arena, CHECK_FINDINGS_MAX, sizeof *c->findings);
        memcpy(c->findings, fault->check.findings, c->finding_count * sizeof *c->findings);
    } else {
        struct case_data data = {.problem = problem};
        verdict_of_pass(&data, NULL, &fault->outcome, NULL, arena, v);
        c->verdict = v->verdict;
        c->diagnosis = arena_printf(arena, "%s%sin timed call %u", v->message ? v->message : "",
                                    v->message ? ", " : "", fault->call);
        c->findings = v->findings;
        c->finding_count = v->finding_count;
    }
    result->verdict = c->verdict;
}

int timed_finish(struct timing_plan *plan, const struct judge_options *options,
                 const struct problem *problem, const struct run_spec *submission,
                 const struct run_spec *reference, const char *nvml, const char *card,
                 struct arena *arena, struct result *result, struct err *e)
{
    struct timing_entrant entrants[ENTRANTS_MAX] = {
        [SUBMISSION] = {"the submission", TIMING_SUBMISSION, *submission},
        [COPY] = {"the copy", TIMING_COPY, *submission},
    };
    entrants[COPY].spec.library = entrants[COPY].spec.entry = "";
    if (reference)
        entrants[REFERENCE] =
            (struct timing_entrant){arena_printf(arena, "the reference %s", problem->reference),
                                    TIMING_REFERENCE, *reference};
    struct clocks *clocks = arena_alloc(arena, sizeof *clocks);
    clocks_open(clocks, nvml, card);
    timing_watch(plan, clocks_look, clocks);
    struct timing *timing = arena_alloc(arena, sizeof *timing);
    int status =
        timing_measure(plan, entrants, reference ? ENTRANTS_MAX : REFERENCE, arena, timing, e);
    clocks_close(clocks);
    if (status != 0)
        return -1;
    result->timing = arena_array(arena, timing->size_count, sizeof *result->timing);
    result->timing_count = timing->size_count;
    for (unsigned i = 0; i < timing->size_count; i++)
        take_size(&timing->sizes[i], reference != NULL, arena, &result->timing[i]);
    for (int k = 0; k < TIMING_PHASES; k++)
        result->timing_ms += timing->spent_ms[k];
    result->timing_spent_ms = timing_spent(timing, arena);
    if (note_interposed(submission->library, arena, result, e) != 0)
        return -1;
    if (timing->fault)
        add_fault(timing->fault, problem, options, arena, result);
    return 0;
}
