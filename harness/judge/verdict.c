#include "judge/verdict.h"

#include <stdio.h>
#include <string.h>

/* The device has said the same already, with the kernel's name: the first warning of this kind that
 * names the reply's error ("cudaErrorX: ...") becomes the error. false: there is none. */
static bool promote(struct pass_verdict *v, enum finding_kind kind, const char *message)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(message, ":"), message);
    for (unsigned i = 0; name[0] && i < v->finding_count; i++)
        if (v->findings[i].kind == kind && v->findings[i].severity == WIRE_WARNING &&
            strstr(v->findings[i].message, name)) {
            v->findings[i].severity = WIRE_ERROR;
            return true;
        }
    return false;
}

/* Adds an error of this kind. */
static __attribute__((format(printf, 3, 4))) void
add(struct pass_verdict *v, enum finding_kind kind, const char *format, ...)
{
    va_list args;
    if (v->finding_count == VERDICT_FINDINGS_MAX)
        v->finding_count--; /* the one that stopped the run says more than the last of many */
    va_start(args, format);
    wire_finding_vset(&v->findings[v->finding_count++], kind, WIRE_ERROR, format, args);
    va_end(args);
}

const struct wire_finding *verdict_finding(const struct pass_verdict *v, enum finding_kind kind)
{
    for (unsigned i = 0; i < v->finding_count; i++)
        if (v->findings[i].kind == kind)
            return &v->findings[i];
    return NULL;
}

static bool has_error(const struct pass_verdict *v)
{
    for (unsigned i = 0; i < v->finding_count; i++)
        if (v->findings[i].severity == WIRE_ERROR)
            return true;
    return false;
}

static void take_findings(const struct wire_finding *from, unsigned count, struct pass_verdict *v)
{
    for (unsigned i = 0; i < count && v->finding_count < VERDICT_FINDINGS_MAX; i++)
        v->findings[v->finding_count++] = from[i];
}

/* A GPU would hang: for ever (deadlock) or far longer than anybody waits (step limit). */
static bool is_hang(const struct wire_finding *f)
{
    return f->kind == FINDING_deadlock || f->kind == FINDING_step_limit;
}

/* The device stopped the kernel at a fatal finding: it decides, whatever else came of it. A memory
 * fault comes before a hang, since threads that wait for a faulted one are a consequence of it. */
static bool stopped_by_finding(struct pass_verdict *v)
{
    bool hang = false, fault = false;
    for (unsigned i = 0; i < v->finding_count; i++) {
        const struct wire_finding *f = &v->findings[i];
        if (f->severity != WIRE_ERROR || !finding_is_fatal((enum finding_kind)f->kind))
            continue;
        if (is_hang(f))
            hang = true;
        else
            fault = true;
    }
    v->hung = hang && !fault;
    v->timed_out = v->hung && verdict_finding(v, FINDING_step_limit);
    if (hang || fault)
        v->verdict = fault ? VERDICT_run_time_error : VERDICT_time_limit_exceeded;
    if (fault && verdict_finding(v, FINDING_unsupported))
        v->message = "not judged any further: the CPU device, which judges where there is no card, "
                     "does not have what the finding names. That need not be wrong; a card may run "
                     "it (--device gpu)";
    return hang || fault;
}

/* More device memory than the problem allows? On a card a call that would have taken it there was
 * refused, and what came of that is only a consequence. */
static bool over_memory(const struct case_data *data, const struct wire_reply *reply,
                        struct arena *arena, struct pass_verdict *v)
{
    uint64_t limit = data->problem->limits.memory_bytes;
    if (!limit || reply->device_bytes <= limit)
        return false;
    v->verdict = VERDICT_memory_limit_exceeded;
    v->message = arena_printf(arena,
                              "%llu bytes of device memory were in use or asked for; the "
                              "limit is %llu",
                              (unsigned long long)reply->device_bytes, (unsigned long long)limit);
    return true;
}

/* A call or launch that was refused, and whose error the submission has cleared, is a warning as
 * long as nothing came of it. Beside a wrong answer it is the likely cause. */
static void blame_refusals(struct pass_verdict *v)
{
    for (unsigned i = 0; i < v->finding_count; i++)
        if (v->findings[i].kind == FINDING_cuda_error)
            v->findings[i].severity = WIRE_ERROR;
}

static void judge_finished(const struct case_data *data, const struct wire_request *request,
                           const struct wire_reply *reply, const uint8_t *outputs,
                           struct arena *arena, struct pass_verdict *v)
{
    if (stopped_by_finding(v))
        return;
    if (over_memory(data, reply, arena, v))
        return;
    check_case(data, request, outputs, arena, &v->check);
    take_findings(v->check.findings, v->check.finding_count, v);
    if (v->check.mismatch.output) {
        v->verdict = VERDICT_wrong_answer;
        blame_refusals(v);
    } else if (has_error(v)) {
        v->verdict = VERDICT_run_time_error;
    } else {
        v->verdict = VERDICT_accepted;
    }
}

static void judge_reply(const struct case_data *data, const struct wire_request *request,
                        const struct wire_reply *reply, const uint8_t *outputs, struct arena *arena,
                        struct pass_verdict *v)
{
    take_findings(reply->findings, reply->finding_count, v);
    v->verdict = VERDICT_run_time_error;
    switch ((enum wire_status)reply->status) {
    case WIRE_DONE:
        judge_finished(data, request, reply, outputs, arena, v);
        return;
    case WIRE_CUDA_ERROR:
        if (over_memory(data, reply, arena, v))
            return;
        if (stopped_by_finding(v) || promote(v, FINDING_cuda_error, reply->message))
            return;
        add(v, FINDING_cuda_error, "%s",
            reply->message[0] ? reply->message : "a CUDA call or a launch failed");
        return;
    case WIRE_CRASHED:
        if (!stopped_by_finding(v))
            add(v, FINDING_signal, "%s",
                reply->message[0] ? reply->message : strsignal(reply->signal));
        return;
    case WIRE_LOAD_FAILED:
        add(v, FINDING_exit, "the compiled submission could not be loaded: %.440s", reply->message);
        return;
    case WIRE_NO_DEVICE:
        v->verdict = VERDICT_judge_error;
        v->is_our_fault = true;
        v->message = arena_strdup(arena, reply->message);
        return;
    case WIRE_READY:
        add(v, FINDING_exit, "the process answered out of turn");
        return;
    case WIRE_BAD_REQUEST:
        break;
    }
    v->verdict = VERDICT_judge_error;
    v->is_our_fault = true;
    v->message = arena_printf(arena, "the runner refused a request: %s", reply->message);
}

void verdict_of_pass(const struct case_data *data, const struct wire_request *request,
                     const struct run_outcome *outcome, const uint8_t *outputs, struct arena *arena,
                     struct pass_verdict *v)
{
    *v = (struct pass_verdict){.verdict = VERDICT_run_time_error};
    const char *entry = data->problem->entry;
    switch (outcome->how) {
    case RUN_REPLIED:
        judge_reply(data, request, &outcome->reply, outputs, arena, v);
        return;
    case RUN_EXITED:
        add(v, FINDING_exit, "the process ended with exit status %d before %s was done",
            outcome->code, entry);
        return;
    case RUN_SIGNALLED:
        add(v, FINDING_signal, "the process was killed by signal %d (%s) before %s was done",
            outcome->code, strsignal(outcome->code), entry);
        return;
    case RUN_GARBAGE:
        add(v, FINDING_exit, "the process sent something that is no answer before %s was done",
            entry);
        return;
    case RUN_OUTPUT_LIMIT:
        v->verdict = VERDICT_output_limit_exceeded;
        v->message = arena_printf(arena, "it printed more than the %llu bytes allowed",
                                  (unsigned long long)data->problem->limits.output_bytes);
        return;
    case RUN_OUT_OF_MEMORY:
        v->verdict = VERDICT_memory_limit_exceeded;
        v->message = arena_printf(
            arena, "its processes took more memory of the host than the limit of %llu bytes allows",
            (unsigned long long)data->problem->limits.memory_bytes);
        return;
    case RUN_TIMED_OUT:
        break;
    }
    v->verdict = VERDICT_time_limit_exceeded;
    v->timed_out = v->hung = true;
    v->message =
        arena_printf(arena, "not done after %.3g s", (double)data->problem->limits.time_ns / 1e9);
}
