/* The device writes its notes behind the outputs, into a region of this pass's own. What it writes
 * is a claim like everything that comes out of the box: it is copied, then validated, then used. */
#include "judge/inspect.h"

#include "wire/profile.h"
#include "wire/trace.h"

#include <string.h>

/* To profile: small ones first, of those the largest; of the others the smallest. */
static bool is_better(const struct prepared_case *c, const struct prepared_case *than)
{
    bool small = work_is_small(c);
    if (small != work_is_small(than))
        return small;
    return small ? c->bytes > than->bytes : c->bytes < than->bytes;
}

const char *inspect_choose(const struct work *work, const struct judge_options *options)
{
    const struct prepared_case *best = NULL;
    for (unsigned i = 0; i < work->count; i++) {
        const struct prepared_case *c = &work->items[i].c;
        if (!best || is_better(c, best))
            best = c;
    }
    for (unsigned i = 0; best && options->trace && i < work->count; i++) {
        const struct prepared_case *c = &work->items[i].c;
        if (c->data.instance->is_public) { /* a worked example, small */
            best = c;
            break;
        }
    }
    return (options->profile || options->trace || options->sanitize) && best
               ? best->data.instance->name
               : NULL;
}

static void take_profile(struct case_run *r, const uint8_t *bytes)
{
    const struct wire_reply *reply = &r->outcome.reply;
    struct result_case *result = r->result;
    if (r->outcome.how != RUN_REPLIED || reply->profile_used == 0) {
        result->profile_note = "the case did not come to its end, so nothing is known of its lines";
        return;
    }
    struct wire_profile *p = arena_alloc(r->s->arena, sizeof *p);
    memcpy(p, bytes, sizeof *p);
    if (reply->profile_used != sizeof *p || !wire_profile_validate(p))
        result->profile_note = "what came back is no profile";
    else
        result->profile = p;
}

static void take_trace(struct case_run *r, const uint8_t *bytes)
{
    const struct wire_reply *reply = &r->outcome.reply;
    if (r->outcome.how != RUN_REPLIED || reply->trace_used == 0) {
        r->result->trace_note = "the case did not come to its end, so there is no trace of it";
        return;
    }
    size_t size = reply->trace_used < WIRE_TRACE_BYTES ? reply->trace_used : WIRE_TRACE_BYTES;
    struct wire_trace *t = arena_alloc(r->s->arena, size);
    memcpy(t, bytes, size);
    if (size != reply->trace_used || !wire_trace_validate(t, size))
        r->result->trace_note = "what came back is no trace";
    else
        r->result->trace = t;
}

/* Asks for the notes that are wanted, behind the outputs. */
static void ask(const struct judge_options *options, struct wire_request *q)
{
    if (options->profile) {
        q->device.checks |= WIRE_CHECK_PROFILE;
        q->profile_offset = wire_align_up(q->out_bytes);
        q->profile_bytes = sizeof(struct wire_profile);
        q->out_bytes = q->profile_offset + q->profile_bytes;
    }
    if (options->trace) {
        q->device.checks |= WIRE_CHECK_TRACE;
        q->trace_offset = wire_align_up(q->out_bytes);
        q->trace_bytes = WIRE_TRACE_BYTES;
        q->out_bytes = q->trace_offset + q->trace_bytes;
    }
}

static void cut(struct text *t, size_t length)
{
    if (t->length > length) {
        t->length = length;
        t->data[length] = '\0';
    }
}

int inspect_case(struct case_run *r, struct err *e)
{
    struct wire_request request;
    struct run_region region, *before = r->outputs;
    struct run_outcome *outcome = arena_alloc(&r->c->arena, sizeof *outcome);
    struct pass_verdict *verdict = arena_alloc(&r->c->arena, sizeof *verdict);
    size_t out = r->out.length, errors = r->errors.length;
    double ms = r->result->ms;
    *outcome = r->outcome;
    *verdict = r->verdict;
    session_configure(r->s, r->c, &PASSES[0], 0, &request);
    ask(r->s->options, &request);
    if (run_region_init(&region, request.out_bytes, true, e) != 0)
        return -1;
    r->outputs = &region;
    int status = case_run_pass(r, &request, e);
    if (status == 0 && r->s->options->profile)
        take_profile(r, region.bytes + request.profile_offset);
    if (status == 0 && r->s->options->trace)
        take_trace(r, region.bytes + request.trace_offset);
    run_region_release(&region);
    r->outputs = before;
    r->outcome = *outcome;
    r->verdict = *verdict;
    r->result->ms = ms;
    cut(&r->out, out);
    cut(&r->errors, errors);
    return status;
}
