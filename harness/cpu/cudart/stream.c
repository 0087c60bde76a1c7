/* Streams and events. Every call's work is done when the call returns, so a stream is a name, an
 * event is a time, and waiting is only the moment at which a fault is reported. */
#include "cpu/cudart/runtime.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

/* The three default streams have numbers instead of addresses: 0, cudaStreamLegacy (1) and
 * cudaStreamPerThread (2). */
static bool is_default(cudaStream_t stream)
{
    return (uintptr_t)stream <= (uintptr_t)cudaStreamPerThread;
}

static struct rt_stream *find(cudaStream_t stream)
{
    static struct rt_stream normal = {cudaStreamDefault, LEAST_PRIORITY, 1};
    return is_default(stream) ? &normal : map_get(&rt.streams, stream);
}

cudaError_t rt_check_stream(cudaStream_t stream)
{
    if (find(stream))
        return cudaSuccess;
    return rt_refuse(cudaErrorInvalidResourceHandle,
                     "%p is not a stream, or one that was destroyed", (void *)stream);
}

static cudaError_t check_event(cudaEvent_t event, struct rt_event **out)
{
    *out = map_get(&rt.events, event);
    if (*out)
        return cudaSuccess;
    return rt_refuse(cudaErrorInvalidResourceHandle,
                     "%p is not an event, or one that was destroyed", (void *)event);
}

void rt_streams_release(void)
{
    size_t position = 0;
    for (struct rt_stream *s; (s = map_next(&rt.streams, &position));)
        free(s);
    position = 0;
    for (struct rt_event *v; (v = map_next(&rt.events, &position));)
        free(v);
    map_release(&rt.streams);
    map_release(&rt.events);
}

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!out || flags > cudaStreamNonBlocking))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct rt_stream *s = calloc(1, sizeof *s);
    if (!s)
        return rt_leave(cudaErrorMemoryAllocation);
    if (priority > LEAST_PRIORITY)
        priority = LEAST_PRIORITY;
    if (priority < GREATEST_PRIORITY)
        priority = GREATEST_PRIORITY;
    *s = (struct rt_stream){flags, priority, 2 + rt.next_stream_id++};
    map_put(&rt.streams, s, s);
    *out = (cudaStream_t)(void *)s;
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
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = is_default(stream) ? cudaErrorInvalidResourceHandle : rt_check_stream(stream);
    if (error == cudaSuccess)
        free(map_remove(&rt.streams, stream));
    return rt_leave(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_check_stream(stream);
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamSynchronize);

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}
RT_ALIAS_PTSZ(cudaStreamQuery);

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    struct rt_event *found;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && flags > cudaEventWaitExternal)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_check_stream(stream);
    if (error == cudaSuccess)
        error = check_event(event, &found);
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamWaitEvent);

/* Looks a stream up for one of the questions below; `out` is where the answer goes. */
static cudaError_t ask(cudaStream_t stream, const void *out, struct rt_stream **s)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_check_stream(stream);
    if (error == cudaSuccess)
        *s = find(stream);
    return error;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = s->priority;
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamGetPriority);

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = s->flags;
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamGetFlags);

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = s->id;
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamGetId);

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = 0;
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamGetDevice);

/* No stream captures: cudaStreamBeginCapture is not supported yet. */
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *out)
{
    struct rt_stream *s;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = cudaStreamCaptureStatusNone;
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamIsCapturing);

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *out,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *count)
{
    (void)graph, (void)dependencies, (void)edges; /* set only while capturing */
    if (id)
        *id = 0;
    if (count)
        *count = 0;
    return cudaStreamIsCapturing(stream, out);
}
RT_ALIAS_PTSZ(cudaStreamGetCaptureInfo);

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    static _Thread_local enum cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        enum cudaStreamCaptureMode before = current;
        current = *mode;
        *mode = before;
    }
    return rt_leave(error);
}

/* ---- host callbacks ---- */

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !function)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_check_stream(stream);
    rt_leave(error);
    if (error == cudaSuccess)
        rt_call_back(function, argument);
    return error;
}
RT_ALIAS_PTSZ(cudaLaunchHostFunc);

struct stream_callback {
    cudaStreamCallback_t function;
    cudaStream_t stream;
    void *argument;
};

static void call_stream_callback(void *argument)
{
    const struct stream_callback *c = argument;
    c->function(c->stream, cudaSuccess, c->argument);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                  void *argument, unsigned flags)
{
    struct stream_callback callback = {function, stream, argument};
    if (!function || flags != 0) {
        rt_lock();
        return rt_leave(cudaErrorInvalidValue);
    }
    return cudaLaunchHostFunc(stream, call_stream_callback, &callback);
}
RT_ALIAS_PTSZ(cudaStreamAddCallback);

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!out || (flags & ~known)))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct rt_event *v = calloc(1, sizeof *v);
    if (!v)
        return rt_leave(cudaErrorMemoryAllocation);
    v->flags = flags;
    map_put(&rt.events, v, v);
    *out = (cudaEvent_t)(void *)v;
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
        error = check_event(event, &v);
    if (error == cudaSuccess)
        free(map_remove(&rt.events, event));
    return rt_leave(error);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    struct rt_event *v = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && flags > cudaEventRecordExternal)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_check_stream(stream);
    if (error == cudaSuccess)
        error = check_event(event, &v);
    if (error == cudaSuccess) {
        v->recorded = true;
        v->at_ns = clock_now_ns();
    }
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaEventRecordWithFlags);

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
RT_ALIAS_PTSZ(cudaEventRecord);

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    struct rt_event *v;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = check_event(event, &v);
    return rt_leave(error);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    struct rt_event *from = NULL, *to = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !ms)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = check_event(start, &from);
    if (error == cudaSuccess)
        error = check_event(end, &to);
    if (error == cudaSuccess && ((from->flags | to->flags) & cudaEventDisableTiming))
        error = rt_refuse(cudaErrorInvalidResourceHandle,
                          "cudaEventElapsedTime: an event was created with cudaEventDisableTiming");
    if (error == cudaSuccess && (!from->recorded || !to->recorded))
        error = rt_refuse(cudaErrorInvalidResourceHandle,
                          "cudaEventElapsedTime: an event was never recorded");
    if (error == cudaSuccess)
        *ms = (float)((double)(int64_t)(to->at_ns - from->at_ns) * 1e-6);
    return rt_leave(error);
}

/* ---- stream attributes ---- */

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && least)
        *least = LEAST_PRIORITY;
    if (error == cudaSuccess && greatest)
        *greatest = GREATEST_PRIORITY;
    return rt_leave(error);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   const cudaStreamAttrValue *value)
{
    struct rt_stream *s = NULL;
    cudaError_t error = ask(stream, value, &s);
    if (error == cudaSuccess && id == cudaLaunchAttributePriority)
        s->priority = value->priority;
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamSetAttribute);

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
RT_ALIAS_PTSZ(cudaStreamGetAttribute);

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_check_stream(to);
    if (error == cudaSuccess)
        error = rt_check_stream(from);
    return rt_leave(error);
}
RT_ALIAS_PTSZ(cudaStreamCopyAttributes);
