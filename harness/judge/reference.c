/* The reference runs in a box of its own, before the submission sees the case; what it wrote is
 * copied out of the region as the expected answer. Any fault of it is a fault of the problem. */
#include "judge/session.h"

#include <string.h>

/* Why a pass of the reference is no answer; NULL if it is one. */
static const char *reference_fault(const struct run_outcome *outcome)
{
    if (outcome->how == RUN_TIMED_OUT)
        return "it ran out of time";
    if (outcome->how != RUN_REPLIED)
        return "its process ended early";
    if (outcome->reply.status != WIRE_DONE)
        return outcome->reply.message[0] ? outcome->reply.message : "a CUDA call failed";
    for (unsigned i = 0; i < outcome->reply.finding_count; i++)
        if (outcome->reply.findings[i].severity == WIRE_ERROR)
            return outcome->reply.findings[i].message;
    return NULL;
}

int session_run_reference(struct session *s, struct prepared_case *c, struct err *e)
{
    struct run_region outputs;
    struct wire_request request;
    if (run_region_init(&outputs, c->request.out_bytes, true, e) != 0)
        return -1;
    struct run_outcome *outcome = arena_alloc(&c->arena, sizeof *outcome);
    struct text out, errors;
    text_init(&out);
    text_init(&errors);
    session_configure(s, c, &PASSES[0], 0, &request);
    const int fds[2] = {c->inputs.fd, outputs.fd};
    int status = keeper_pass(&s->reference, &request, fds, s->problem->limits.time_ns, outcome,
                             &out, &errors, e);
    const char *fault = status == 0 ? reference_fault(outcome) : NULL;
    if (fault)
        status = err_set(e, "the reference %s fails on case '%s': %s", s->problem->reference,
                         c->data.instance->name, fault);
    for (unsigned i = 0; status == 0 && i < s->problem->param_count; i++) {
        const struct wire_param *w = &request.params[i];
        if (c->data.buffers[i].expected)
            memcpy(c->data.buffers[i].expected,
                   outputs.bytes + w->out_offset + WIRE_GUARD_BYTES + w->misalign, w->bytes);
    }
    text_release(&out);
    text_release(&errors);
    run_region_release(&outputs);
    return status;
}
