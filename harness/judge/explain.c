/* Why a case failed, found out by running it again with one thing changed. None of these runs is
 * judged. The first few failures get them; a run that takes all of its time does not. */
#include "judge/case.h"

enum { EXPLAINED_CASES = 3 };

/* A pass after the first failed. The first one's request again, in a box that has answered it
 * before, tells whether its being first was all that made it right; then the failing schedule with
 * the first pass's poison, whether memory or order mattered. */
static const char *explain_later_pass(struct case_run *r, unsigned failed, struct err *e,
                                      int *status)
{
    const struct pass_row *row = &PASSES[failed];
    struct wire_request request;
    session_configure(r->s, r->c, PASSES[0].schedule, PASSES[0].resident_blocks, 0, 0, &request);
    bool was_alive = r->s->submission.is_open;
    for (unsigned call = was_alive ? 1 : 0; call < 2; call++) {
        *status = case_run_pass(r, &request, e);
        if (*status != 0)
            return NULL;
    }
    if (r->verdict.verdict != VERDICT_accepted)
        return "different on every call: the first call is right, the very same call once more is "
               "not, so something is left over from the call before (a counter or flag that is not "
               "reset)";
    session_configure(r->s, r->c, row->schedule, row->resident_blocks, failed, 0, &request);
    *status = case_run_pass(r, &request, e);
    if (*status != 0)
        return NULL;
    if (r->verdict.verdict == VERDICT_accepted)
        return "different on every run: right with one content of fresh memory, wrong with "
               "another, "
               "so it uses values that nobody wrote";
    return arena_printf(r->s->arena,
                        "different on every schedule: right in order, not %s, so it relies on an "
                        "order of threads that nothing guarantees",
                        wire_schedule_name(row->schedule));
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
    session_configure(r->s, r->c, WIRE_REVERSED, 0, 1, 0, &request);
    *status = case_run_pass(r, &request, e);
    if (*status == 0 && r->outcome.how == RUN_REPLIED && r->outcome.reply.status == WIRE_DONE &&
        !check_same_outputs(&r->c->data, &request, before->bytes, again.bytes))
        sentence =
            "different on every schedule: the same call gives another answer when threads run "
            "in reverse, so it relies on an order that nothing guarantees";
    r->outputs = before;
    run_region_release(&again);
    return sentence;
}

/* Where the case fails when it runs alone in a fresh box, as the reproduce command runs it: the
 * number of the pass, PASS_COUNT if in none. */
static int run_alone(struct case_run *r, unsigned *fails_in, struct err *e)
{
    *fails_in = PASS_COUNT;
    keeper_close(&r->s->submission);
    for (unsigned pass = 0; pass < (work_is_small(r->c) ? PASS_COUNT : 1); pass++) {
        const struct pass_row *row = &PASSES[pass];
        struct wire_request request;
        session_configure(r->s, r->c, row->schedule, row->resident_blocks, pass, pass, &request);
        if (case_run_pass(r, &request, e) != 0)
            return -1;
        if (r->verdict.verdict == VERDICT_accepted || (row->hang == HANG_WARNS && r->verdict.hung))
            continue;
        *fails_in = pass;
        break;
    }
    return 0;
}

static int explain(struct case_run *r, unsigned failed, const char **why, struct err *e)
{
    struct pass_verdict first = r->verdict;
    unsigned fails_in = failed;
    int status = r->had_earlier_passes ? run_alone(r, &fails_in, e) : 0;
    r->verdict = first;
    if (status == 0 && fails_in == PASS_COUNT) {
        r->s->needs_earlier_cases = true;
        *why = "only after other cases in the same process: alone, this case does not fail, so "
               "something is left over from earlier calls (a counter or flag that is not reset, "
               "memory that is not freed)";
    } else if (status == 0 && fails_in > failed) {
        *why = "different on every call: in a fresh process the first call is right and a later "
               "one is "
               "not, so something is left over from the call before (a counter or flag that is not "
               "reset)";
    } else if (status == 0 && failed > 0) {
        *why = explain_later_pass(r, failed, e, &status);
    } else if (status == 0 && work_is_small(r->c) && r->verdict.check.mismatch.output) {
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

int case_explain(struct case_run *r, unsigned failed, const char **why, struct err *e)
{
    *why = NULL;
    if (r->verdict.timed_out || r->s->explained_cases++ >= EXPLAINED_CASES)
        return 0;
    size_t out = r->out.length, errors = r->errors.length;
    int status = explain(r, failed, why, e);
    cut(&r->out, out);
    cut(&r->errors, errors);
    return status;
}
