/* Events. A record is an operation of its stream, so that its time is the time at which the stream
 * came to it; who waits for the event copies the record's stamp, so that recording it anew or
 * destroying it changes nothing for them. */
#include "cpu/cudart/event.h"

#include "base/clock.h"
#include "cpu/cudart/capture.h"
#include "cpu/cudart/queue.h"

#include <stdlib.h>

cudaError_t event_find(cudaEvent_t event, struct rt_event **out)
{
    *out = map_get(&rt.events, event);
    if (*out)
        return cudaSuccess;
    return rt_refuse(cudaErrorInvalidResourceHandle,
                     "%p is not an event, or one that was destroyed", (void *)event);
}

void event_keep(struct rt_event *v)
{
    v->references++;
}

void event_drop(struct rt_event *v)
{
    if (--v->references > 0)
        return;
    stamp_release(&v->stamp);
    free(v->nodes);
    free(v);
}

void event_happened(struct rt_event *v, uint64_t record)
{
    if (v->happened < record) {
        v->happened = record;
        v->at_ns = clock_now_ns();
    }
}

void event_release_all(void)
{
    size_t position = 0;
    for (struct rt_event *v; (v = map_next(&rt.events, &position));)
        event_drop(v);
    map_release(&rt.events);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && out && (flags & cudaEventInterprocess))
        error = rt_refuse(cudaErrorNotSupported,
                          "cudaEventInterprocess: the CPU device lives in one process");
    if (error == cudaSuccess && (!out || (flags & ~known)))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct rt_event *v = calloc(1, sizeof *v);
    if (!v)
        return rt_leave(cudaErrorMemoryAllocation);
    v->handle = (cudaEvent_t)(void *)v;
    v->flags = flags;
    v->references = 1;
    map_put(&rt.events, v, v);
    *out = v->handle;
    return rt_leave(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    struct rt_event *v;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = event_find(event, &v);
    if (error == cudaSuccess)
        event_drop(map_remove(&rt.events, event));
    return rt_leave(error);
}

void event_prepare_record(struct rt_event *v, struct rt_work *work)
{
    *work = (struct rt_work){.kind = WORK_RECORD, .call = "cudaEventRecord"};
    work->record.event = v;
    work->record.record = ++v->records;
    event_keep(v);
    v->capture_id = 0;
}

static cudaError_t record(struct rt_event *v, struct rt_stream *s)
{
    struct rt_work work;
    cudaError_t error = capture_check_legacy(s);
    if (error != cudaSuccess)
        return error;
    event_prepare_record(v, &work);
    error = queue_submit(s, &work);
    if (error == cudaSuccess)
        stamp_copy(&v->stamp, &s->stamp);
    return error;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    struct rt_event *v = NULL;
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && flags > cudaEventRecordExternal)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = event_find(event, &v);
    if (error == cudaSuccess && flags == cudaEventRecordExternal && !s->capture)
        error = cudaErrorIllegalState;
    if (error == cudaSuccess)
        error = s->capture ? capture_record_event(s, v, flags == cudaEventRecordExternal)
                           : record(v, s);
    return rt_leave(error);
}
RT_PTSZ(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
        (event, rt_own(stream), flags))

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
RT_PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, rt_own(stream)))

/* The host asks for an event: one that a capture recorded happens in no stream. */
static cudaError_t enter_to_ask(cudaEvent_t event, struct rt_event **v)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = event_find(event, v);
    return error == cudaSuccess ? capture_check_event(*v) : error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    struct rt_event *v;
    cudaError_t error = enter_to_ask(event, &v);
    if (error == cudaSuccess) {
        queue_wait(&v->stamp);
        error = rt_fault();
    }
    return rt_leave(error);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    struct rt_event *v;
    cudaError_t error = enter_to_ask(event, &v);
    if (error != cudaSuccess)
        return rt_leave(error);
    if (queue_done(&v->stamp)) {
        queue_seen(&v->stamp);
    } else {
        error = cudaErrorNotReady;
        queue_nudge(&v->stamp);
    }
    return rt_leave(error);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    struct rt_event *from = NULL, *to = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !ms)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = event_find(start, &from);
    if (error == cudaSuccess)
        error = event_find(end, &to);
    if (error == cudaSuccess && ((from->flags | to->flags) & cudaEventDisableTiming))
        error = rt_refuse(cudaErrorInvalidResourceHandle,
                          "cudaEventElapsedTime: an event was created with cudaEventDisableTiming");
    if (error == cudaSuccess && (from->capture_id || to->capture_id))
        error = rt_refuse(cudaErrorCapturedEvent,
                          "cudaEventElapsedTime: an event was recorded in a capturing stream");
    if (error == cudaSuccess && (from->records == 0 || to->records == 0))
        error = rt_refuse(cudaErrorInvalidResourceHandle,
                          "cudaEventElapsedTime: an event was never recorded");
    if (error == cudaSuccess && (from->happened < from->records || to->happened < to->records))
        error = cudaErrorNotReady;
    if (error == cudaSuccess)
        *ms = (float)((double)(int64_t)(to->at_ns - from->at_ns) * 1e-6);
    return rt_leave(error);
}
