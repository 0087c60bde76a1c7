/* No stream captures yet. */
#include "cpu/cudart/capture.h"

cudaError_t capture_add(struct rt_stream *s, struct rt_work *work)
{
    (void)s;
    work_release(work);
    return cudaErrorNotSupported;
}

cudaError_t capture_check_unsafe(void)
{
    return cudaSuccess;
}

cudaError_t capture_check_wait(struct rt_stream *s)
{
    (void)s;
    return cudaSuccess;
}

cudaError_t capture_check_event(struct rt_event *v)
{
    (void)v;
    return cudaSuccess;
}

cudaError_t capture_refuse(struct rt_stream *s)
{
    (void)s;
    return cudaErrorNotSupported;
}

cudaError_t capture_record_event(struct rt_stream *s, struct rt_event *v)
{
    (void)s, (void)v;
    return cudaErrorNotSupported;
}

cudaError_t capture_wait_event(struct rt_stream *s, struct rt_event *v)
{
    (void)s, (void)v;
    return cudaErrorNotSupported;
}

void capture_abandon(struct rt_stream *s)
{
    s->capture = NULL;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *out)
{
    struct rt_stream *s;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        *out = cudaStreamCaptureStatusNone;
    return rt_leave(error);
}
RT_PTSZ(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *out),
        (rt_own(stream), out))

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
RT_PTSZ(cudaStreamGetCaptureInfo,
        (cudaStream_t stream, enum cudaStreamCaptureStatus *out, unsigned long long *id,
         cudaGraph_t *graph, const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
         size_t *count),
        (rt_own(stream), out, id, graph, dependencies, edges, count))

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
