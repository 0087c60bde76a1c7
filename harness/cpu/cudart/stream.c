/* Streams: making them, waiting for them, and what can be asked of them. */
#include "cpu/cudart/capture.h"
#include "cpu/cudart/event.h"
#include "cpu/cudart/queue.h"

#include <string.h>

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

cudaError_t rt_find_stream(cudaStream_t stream, struct rt_stream **out)
{
    *out = queue_find(stream);
    if (*out)
        return cudaSuccess;
    return rt_refuse(cudaErrorInvalidResourceHandle,
                     "%p is not a stream, or one that was destroyed", (void *)stream);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!out || flags > cudaStreamNonBlocking))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    if (priority > LEAST_PRIORITY)
        priority = LEAST_PRIORITY;
    if (priority < GREATEST_PRIORITY)
        priority = GREATEST_PRIORITY;
    *out = queue_stream_new(flags, priority)->handle;
    return rt_leave(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    return cudaStreamCreateWithPriority(out, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return cudaStreamCreateWithPriority(out, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (uintptr_t)stream <= (uintptr_t)cudaStreamPerThread)
        error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        queue_stream_free(s);
    return rt_leave(error);
}

/* ---- waiting ---- */

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = capture_check_wait(s);
    if (error == cudaSuccess) {
        queue_wait_stream(s);
        error = rt_fault();
    }
    return rt_leave(error);
}
RT_PTSZ(cudaStreamSynchronize, (cudaStream_t stream), (rt_own(stream)))

/* Whoever asks often enough gets the work done: the answer "not ready" does a little of it. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    struct rt_stream *s = NULL;
    struct stamp stamp = {0};
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = capture_check_wait(s);
    if (error != cudaSuccess)
        return rt_leave(error);
    queue_stamp(s, &stamp);
    if (queue_done(&stamp)) {
        queue_seen(&stamp);
    } else {
        error = cudaErrorNotReady;
        queue_nudge(&stamp);
    }
    stamp_release(&stamp);
    return rt_leave(error);
}
RT_PTSZ(cudaStreamQuery, (cudaStream_t stream), (rt_own(stream)))

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    struct rt_stream *s = NULL;
    struct rt_event *v = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && flags > cudaEventWaitExternal)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = event_find(event, &v);
    if (error == cudaSuccess && flags == cudaEventWaitExternal && !s->capture)
        error = cudaErrorIllegalState;
    if (error == cudaSuccess && (s->capture || v->capture_id))
        error = capture_wait_event(s, v, flags == cudaEventWaitExternal);
    else if (error == cudaSuccess)
        stamp_join(&s->stamp, &v->stamp);
    return rt_leave(error);
}
RT_PTSZ(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
        (rt_own(stream), event, flags))

/* ---- questions ---- */

/* Looks a stream up for one of the questions below; `out` is where the answer goes. */
static cudaError_t ask(cudaStream_t stream, const void *out, struct rt_stream **s)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    return error == cudaSuccess ? rt_find_stream(stream, s) : error;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = s->priority;
    return rt_leave(error);
}
RT_PTSZ(cudaStreamGetPriority, (cudaStream_t stream, int *out), (rt_own(stream), out))

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = s->flags;
    return rt_leave(error);
}
RT_PTSZ(cudaStreamGetFlags, (cudaStream_t stream, unsigned *out), (rt_own(stream), out))

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = s->id;
    return rt_leave(error);
}
RT_PTSZ(cudaStreamGetId, (cudaStream_t stream, unsigned long long *out), (rt_own(stream), out))

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = 0;
    return rt_leave(error);
}
RT_PTSZ(cudaStreamGetDevice, (cudaStream_t stream, int *out), (rt_own(stream), out))

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && least)
        *least = LEAST_PRIORITY;
    if (error == cudaSuccess && greatest)
        *greatest = GREATEST_PRIORITY;
    return rt_leave(error);
}

/* ---- attributes ---- */

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   const cudaStreamAttrValue *value)
{
    struct rt_stream *s = NULL;
    cudaError_t error = ask(stream, value, &s);
    if (error == cudaSuccess && id == cudaLaunchAttributePriority)
        s->priority = value->priority;
    return rt_leave(error);
}
RT_PTSZ(cudaStreamSetAttribute,
        (cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue *value),
        (rt_own(stream), id, value))

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   cudaStreamAttrValue *value)
{
    struct rt_stream *s = NULL;
    cudaError_t error = ask(stream, value, &s);
    if (error == cudaSuccess) {
        memset(value, 0, sizeof *value);
        if (id == cudaLaunchAttributePriority)
            value->priority = s->priority;
    }
    return rt_leave(error);
}
RT_PTSZ(cudaStreamGetAttribute,
        (cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value),
        (rt_own(stream), id, value))

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    struct rt_stream *target = NULL, *source = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(to, &target);
    if (error == cudaSuccess)
        error = rt_find_stream(from, &source);
    if (error == cudaSuccess)
        target->priority = source->priority;
    return rt_leave(error);
}
RT_PTSZ(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (rt_own(to), rt_own(from)))

/* ---- host functions ---- */

static cudaError_t submit_call(cudaStream_t stream, struct rt_work *work)
{
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && s->capture && work->kind == WORK_CALLBACK)
        error = capture_refuse(s, "cudaStreamAddCallback cannot be captured: use "
                                  "cudaLaunchHostFunc");
    if (error == cudaSuccess)
        error = queue_submit(s, work);
    return rt_leave(error);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
    struct rt_work work = {.kind = WORK_HOST, .call = "cudaLaunchHostFunc"};
    if (!function) {
        rt_lock();
        return rt_leave(cudaErrorInvalidValue);
    }
    work.host.function = function;
    work.host.argument = argument;
    return submit_call(stream, &work);
}
RT_PTSZ(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *argument),
        (rt_own(stream), function, argument))

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                  void *argument, unsigned flags)
{
    struct rt_work work = {.kind = WORK_CALLBACK, .call = "cudaStreamAddCallback"};
    if (!function || flags != 0) {
        rt_lock();
        return rt_leave(cudaErrorInvalidValue);
    }
    work.callback.function = function;
    work.callback.stream = stream;
    work.callback.argument = argument;
    return submit_call(stream, &work);
}
RT_PTSZ(cudaStreamAddCallback,
        (cudaStream_t stream, cudaStreamCallback_t function, void *argument, unsigned flags),
        (rt_own(stream), function, argument, flags))
