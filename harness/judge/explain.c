/* Why a case failed, found out by running it again with one thing changed. None of these runs is
 * judged. The first few failures get them, as long as the judging has time left; a run that takes
 * all of its time does not. */
#include "judge/case.h"

enum { EXPLAINED_CASES = 3 };

/* Is there time for one more run? */
static bool may_go_on(const struct case_run *r, int status)
{
    return status == 0 && !budget_is_spent(r->s->budget);
}

/* Does the pass fail with one thing about it changed? `status` is not 0 when we failed. */
static bool passes_with(struct case_run *r, const struct pass *p, struct err *e, int *status)
{
    struct wire_request request;
    session_configure(r->s, r->c, p, 0, &request);
    *status = case_run_pass(r, &request, e);
    return *status == 0 && r->verdict.verdict == VERDICT_accepted;
}

/* What about the failing pass made it fail, memory being out of the question. */
static const char *explain_order(struct case_run *r, const struct pass *failed, struct err *e,
                                 int *status)
{
    struct pass changed = *failed;
    changed.delay_stores = false;
    if (failed->delay_stores && passes_with(r, &changed, e, status))
        return "wrong when stores reach other blocks late, right when everybody sees them at once: "
               "what tells that data is there (a flag, a counter) can be seen before the data. "
               "__threadfence() between the two orders them";
    changed = *failed;
    changed.stream_order = WIRE_STREAMS_EAGER;
    if (may_go_on(r, *status) && failed->stream_order != WIRE_STREAMS_EAGER &&
        passes_with(r, &changed, e, status))
        return "wrong when the work of streams is done late, right when it is done at once: "
               "something is used before anybody has waited for it";
    if (!may_go_on(r, *status))
        return NULL;
    return arena_printf(r->s->arena,
                        "different on every schedule: right in order, not %s, so it relies on an "
                        "order of threads that nothing guarantees",
                        wire_schedule_name(failed->schedule));
}

/* A pass after the first failed. The first one's request again, in a box that has answered it
 * before, tells whether its being first was all that made it right; then the failing schedule with
 * the first pass's poison, whether memory or order mattered. */
static const char *explain_later_pass(struct case_run *r, const struct pass *failed, struct err *e,
                                      int *status)
{
    bool was_alive = r->s->submission.is_open;
    for (unsigned call = was_alive ? 1 : 0; call < 2; call++) {
        passes_with(r, &PASSES[0], e, status);
        if (!may_go_on(r, *status))
            return NULL;
    }
    if (r->verdict.verdict != VERDICT_accepted)
        return "different on every call: the first call is right, the very same call once more is "
               "not, so something is left over from the call before (a counter or flag that is not "
               "reset)";
    bool right = passes_with(r, failed, e, status);
    if (!may_go_on(r, *status))
        return NULL;
    if (right)
        return "different on every run: right with one content of fresh memory, wrong with "
               "another, "
               "so it uses values that nobody wrote";
    return explain_order(r, failed, e, status);
}

/* The first pass failed: does another order of threads, with the same poison, give another answer?
 */
static const char *explain_first_pass(struct case_run *r, struct err *e, int *status)
{
    struct run_region again, *before = r->outputs;
    struct wire_request request;
    const char *sentence = NULL;
    *status = run_region_init(&again, r->c->request.out_bytes, true, e);
    if (*status != 0)
        return NULL;
    r->outputs = &again;
    session_configure(r->s, r->c, &PASSES[PASS_reversed], 0, &request);
    *status = case_run_pass(r, &request, e);
    if (*status == 0 && r->outcome.how == RUN_REPLIED && r->outcome.reply.status == WIRE_DONE &&
        !check_same_outputs(&r->c->data, &request, before->bytes, again.bytes))
        sentence =
            r->s->options->on_gpu
                ? "different on every run: the same call on the same data gives another answer, so "
                  "it relies on an order that nothing guarantees"
                : "different on every schedule: the same call gives another answer when threads "
                  "run in reverse, so it relies on an order that nothing guarantees";
    r->outputs = before;
    run_region_release(&again);
    return sentence;
}

/* A pass of the case when it runs alone. *fails: yes, it does. */
static int try_alone(struct case_run *r, const struct pass *p, bool *fails, struct err *e)
{
    struct wire_request request;
    session_configure(r->s, r->c, p, p->number, &request);
    if (case_run_pass(r, &request, e) != 0)
        return -1;
    *fails = r->verdict.verdict != VERDICT_accepted && !(p->hang == HANG_WARNS && r->verdict.hung);
    return 0;
}

/* Where the case fails when it runs alone in a fresh box, as the reproduce command runs it: the
 * number of the pass, PASS_COUNT if in none. */
static int run_alone(struct case_run *r, const struct pass *failed, unsigned *fails_in,
                     struct err *e)
{
    bool fails = false;
    keeper_close(&r->s->submission);
    *fails_in = PASS_COUNT;
    if (failed->is_seeded) { /* that command runs this pass only */
        if (try_alone(r, failed, &fails, e) != 0)
            return -1;
        *fails_in = fails ? failed->number : PASS_COUNT;
        return 0;
    }
    for (unsigned k = 0; k < PASS_COUNT && !fails; k++) {
        if (!case_gets_pass(r, &PASSES[k]))
            continue;
        if (!may_go_on(r, 0)) { /* nothing is known: as if it had failed the same way */
            *fails_in = failed->number;
            return 0;
        }
        if (try_alone(r, &PASSES[k], &fails, e) != 0)
            return -1;
        *fails_in = fails ? k : PASS_COUNT;
    }
    return 0;
}

static int explain(struct case_run *r, const struct pass *failed, const char **why, struct err *e)
{
    struct pass_verdict first = r->verdict;
    unsigned fails_in = failed->number;
    int status = r->had_earlier_passes ? run_alone(r, failed, &fails_in, e) : 0;
    r->verdict = first;
    if (status == 0 && fails_in == PASS_COUNT && r->s->options->on_gpu) {
        /* A card cannot be asked for the same order of threads again. */
        *why = "not on every run: once more, alone in a fresh process, the case did not fail. It "
               "depends on what earlier calls left behind, or on an order that nothing guarantees";
    } else if (status == 0 && fails_in == PASS_COUNT) {
        r->s->needs_earlier_cases = true;
        *why = "only after other cases in the same process: alone, this case does not fail, so "
               "something is left over from earlier calls (a counter or flag that is not reset, "
               "memory that is not freed)";
    } else if (status == 0 && fails_in > failed->number) {
        *why = "different on every call: in a fresh process the first call is right and a later "
               "one is "
               "not, so something is left over from the call before (a counter or flag that is not "
               "reset)";
    } else if (may_go_on(r, status) && failed->number > 0) {
        *why = explain_later_pass(r, failed, e, &status);
    } else if (may_go_on(r, status) && work_is_small(r->c) && r->verdict.check.mismatch.output) {
        *why = explain_first_pass(r, e, &status);
    }
    r->verdict = first;
    return status;
}

static void cut(struct text *t, size_t length)
{
    if (t->length > length) {
        t->length = length;
        t->data[length] = '\0';
    }
}

int case_explain(struct case_run *r, const struct pass *failed, const char **why, struct err *e)
{
    *why = NULL;
    if (case_is_slow_hang(r) || !may_go_on(r, 0) || r->s->explained_cases++ >= EXPLAINED_CASES)
        return 0;
    size_t out = r->out.length, errors = r->errors.length;
    int status = explain(r, failed, why, e);
    cut(&r->out, out);
    cut(&r->errors, errors);
    return status;
}
