/* Each capturing stream keeps the set of nodes that its next one comes after; recording an event
 * copies the set into the event, waiting for it adds the event's set to the stream's. */
#include "cpu/cudart/capture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct capture {
    unsigned long long id;
    enum cudaStreamCaptureMode mode;
    struct graph *graph;
    bool given; /* the graph is the program's (cudaStreamBeginCaptureToGraph) */
    bool invalid;
    struct rt_stream *origin;
    pthread_t thread;
    struct capture *next;
};

static struct capture *captures;
static unsigned long long capture_ids;
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

/* ---- sets of nodes ---- */

static bool holds(struct graph_node *const *set, size_t count, const struct graph_node *node)
{
    for (size_t i = 0; i < count; i++)
        if (set[i] == node)
            return true;
    return false;
}

/* Adds to a set those of `more` that it lacks. */
static void unite(struct graph_node ***set, size_t *count, struct graph_node *const *more,
                  size_t more_count)
{
    struct graph_node **wider =
        realloc(*set, (*count + more_count + 1) * sizeof(struct graph_node *));
    if (!wider)
        BUG("out of memory for a capture");
    *set = wider;
    for (size_t i = 0; i < more_count; i++)
        if (!holds(wider, *count, more[i]))
            wider[(*count)++] = more[i];
}

static void replace(struct graph_node ***set, size_t *count, struct graph_node *const *with,
                    size_t with_count)
{
    *count = 0;
    unite(set, count, with, with_count);
}

/* ---- what a capture forbids ---- */

static cudaError_t invalidate(struct capture *c, cudaError_t error, const char *why)
{
    c->invalid = true;
    return rt_refuse(error, "%s; the capture is invalid from here on", why);
}

/* As cudaThreadExchangeStreamCaptureMode() describes it. */
cudaError_t capture_check_unsafe(void)
{
    cudaError_t error = cudaSuccess;
    for (struct capture *c = captures; c; c = c->next) {
        bool mine = pthread_equal(c->thread, pthread_self());
        bool forbids = mine ? c->mode != cudaStreamCaptureModeRelaxed
                            : c->mode == cudaStreamCaptureModeGlobal &&
                                  thread_mode == cudaStreamCaptureModeGlobal;
        if (forbids && thread_mode != cudaStreamCaptureModeRelaxed)
            error = invalidate(c, cudaErrorStreamCaptureUnsupported,
                               "while a stream captures, no call may allocate, free or wait for "
                               "the device: do that before cudaStreamBeginCapture");
    }
    return error;
}

cudaError_t capture_check_device(void)
{
    cudaError_t error = cudaSuccess;
    for (struct capture *c = captures; c; c = c->next)
        error = invalidate(c, cudaErrorStreamCaptureUnsupported,
                           "the device is waited for while a stream captures");
    return error;
}

/* A blocking stream that captures would have to wait for the default stream. A question about that
 * fails as well, but breaks nothing. */
static cudaError_t check_legacy(const struct rt_stream *s, bool question)
{
    if (s->handle != cudaStreamLegacy || !captures)
        return cudaSuccess;
    cudaError_t error = cudaSuccess;
    size_t position = 0;
    for (struct rt_stream *other; (other = map_next(&rt.streams, &position));) {
        if (other->blocking && other->capture) {
            error = cudaErrorStreamCaptureImplicit;
            if (!question)
                invalidate(other->capture, error,
                           "work for the default stream, or waiting for it, while a blocking "
                           "stream captures: use a stream that cudaStreamNonBlocking made, or "
                           "launch on the one that captures");
        }
    }
    return error;
}

cudaError_t capture_check_legacy(const struct rt_stream *s)
{
    return check_legacy(s, false);
}

cudaError_t capture_check_wait(struct rt_stream *s)
{
    if (s->capture)
        return invalidate(s->capture, cudaErrorStreamCaptureUnsupported,
                          "a stream that captures has no work that could be waited for: launch "
                          "the graph first");
    cudaError_t error = capture_check_legacy(s);
    return error == cudaSuccess ? capture_check_unsafe() : error;
}

static struct capture *capture_of(const struct rt_event *v)
{
    for (struct capture *c = captures; c; c = c->next)
        if (c->id == v->capture_id)
            return c;
    return NULL;
}

cudaError_t capture_check_event(struct rt_event *v)
{
    struct capture *c = capture_of(v);
    if (c)
        return invalidate(c, cudaErrorCapturedEvent,
                          "an event that was recorded in a capturing stream is never reached");
    return v->capture_id ? cudaErrorInvalidValue : capture_check_unsafe();
}

cudaError_t capture_refuse(struct rt_stream *s, const char *why)
{
    return invalidate(s->capture, cudaErrorStreamCaptureUnsupported, why);
}

/* ---- work ---- */

static struct graph_node *append(struct rt_stream *s, enum cudaGraphNodeType type,
                                 struct rt_work *work)
{
    struct graph_node *n = graph_add(s->capture->graph, type, work, s->captured, s->captured_count);
    replace(&s->captured, &s->captured_count, &n, 1);
    return n;
}

cudaError_t capture_add(struct rt_stream *s, struct rt_work *work)
{
    if (s->capture->invalid) {
        work_release(work);
        return cudaErrorStreamCaptureInvalidated;
    }
    struct graph_node *n = append(s, graph_type_of(work), work);
    if (work->kind == WORK_ALLOCATE) {
        n->alloc.dptr = work->memory.base;
        n->alloc.bytesize = work->memory.bytes;
        n->alloc.poolProps.allocType = cudaMemAllocationTypePinned;
        n->alloc.poolProps.location.type = cudaMemLocationTypeDevice;
        rt_keep_graph_memory(work->memory.base);
    }
    return cudaSuccess;
}

cudaError_t capture_record_event(struct rt_stream *s, struct rt_event *v, bool external)
{
    struct rt_work nothing = {.kind = WORK_NOTHING};
    if (s->capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (external) {
        append(s, cudaGraphNodeTypeEventRecord, &nothing)->event = v;
        event_keep(v);
        return cudaSuccess;
    }
    v->capture_id = s->capture->id;
    replace(&v->nodes, &v->node_count, s->captured, s->captured_count);
    return cudaSuccess;
}

cudaError_t capture_wait_event(struct rt_stream *s, struct rt_event *v, bool external)
{
    struct capture *c = capture_of(v);
    struct rt_work nothing = {.kind = WORK_NOTHING};
    if (s->capture && s->capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (s->capture && external) {
        append(s, cudaGraphNodeTypeWaitEvent, &nothing)->event = v;
        event_keep(v);
        return cudaSuccess;
    }
    if (!v->capture_id) {
        if (v->records == 0 || !s->capture) /* nothing to wait for, or nothing that is captured */
            return cudaSuccess;
        return invalidate(s->capture, cudaErrorStreamCaptureIsolation,
                          "a stream that captures waits for an event from outside of its capture");
    }
    if (!c) /* its capture has ended */
        return cudaErrorInvalidValue;
    if (c->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (s->capture && s->capture != c) {
        c->invalid = true;
        return invalidate(s->capture, cudaErrorStreamCaptureMerge,
                          "a stream that captures waits for an event of another capture");
    }
    if (s->handle == cudaStreamLegacy)
        return invalidate(c, cudaErrorStreamCaptureImplicit,
                          "the default stream cannot join a capture");
    s->capture = c;
    unite(&s->captured, &s->captured_count, v->nodes, v->node_count);
    return cudaSuccess;
}

/* ---- begin and end ---- */

static void leave(struct rt_stream *s)
{
    s->capture = NULL;
    free(s->captured);
    s->captured = NULL;
    s->captured_count = 0;
}

/* The capture is over: no stream is part of it any more. */
static void end(struct capture *c, bool keep_graph)
{
    struct capture **at = &captures;
    struct graph *g = c->graph;
    size_t position = 0;
    for (struct rt_stream *s; (s = map_next(&rt.streams, &position));)
        if (s->capture == c)
            leave(s);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    g->capturing = false;
    if (!keep_graph && !c->given)
        graph_free(g);
    free(c);
}

void capture_abandon(struct rt_stream *s)
{
    struct capture *c = s->capture;
    if (!c)
        return;
    c->invalid = true;
    if (s != c->origin) {
        leave(s);
        return;
    }
    end(c, false);
    leave(s); /* no longer among the streams, perhaps */
}

static cudaError_t begin(struct rt_stream *s, enum cudaStreamCaptureMode mode, struct graph *given)
{
    if (s->handle == cudaStreamLegacy)
        return cudaErrorStreamCaptureUnsupported;
    if (s->capture)
        return cudaErrorIllegalState;
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cudaErrorMemoryAllocation;
    *c = (struct capture){
        .id = ++capture_ids,
        .mode = mode,
        .graph = given ? given : graph_new(),
        .given = given != NULL,
        .origin = s,
        .thread = pthread_self(),
        .next = captures,
    };
    c->graph->capturing = true;
    captures = c;
    s->capture = c;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (unsigned)mode > cudaStreamCaptureModeRelaxed)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = begin(s, mode, NULL);
    return rt_leave(error);
}
RT_PTSZ(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
        (rt_own(stream), mode))

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *edges, size_t count,
                                          enum cudaStreamCaptureMode mode)
{
    (void)edges;
    struct rt_stream *s = NULL;
    struct graph_node **set = NULL;
    cudaError_t error = rt_enter();
    struct graph *g = error == cudaSuccess ? graph_find(graph) : NULL;
    if (error == cudaSuccess &&
        (!g || g->capturing || (unsigned)mode > cudaStreamCaptureModeRelaxed))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = graph_find_set(g, dependencies, count, &set);
    if (error == cudaSuccess)
        error = begin(s, mode, g);
    if (error == cudaSuccess)
        replace(&s->captured, &s->captured_count, set, count);
    free(set);
    return rt_leave(error);
}
RT_PTSZ(cudaStreamBeginCaptureToGraph,
        (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
         const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode),
        (rt_own(stream), graph, dependencies, edges, count, mode))

/* Has every stream of the capture come back to the one in which it began? */
static bool is_joined(const struct capture *c)
{
    const struct rt_stream *origin = c->origin;
    size_t position = 0;
    for (const struct rt_stream *s; (s = map_next(&rt.streams, &position));) {
        if (s->capture != c || s == origin)
            continue;
        for (size_t i = 0; i < s->captured_count; i++) {
            bool reached = false;
            for (size_t k = 0; k < origin->captured_count && !reached; k++)
                reached = graph_reaches(s->captured[i], origin->captured[k]);
            if (!reached)
                return false;
        }
    }
    return true;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && !graph)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && !s->capture)
        error = cudaErrorIllegalState;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct capture *c = s->capture;
    *graph = NULL;
    if (s != c->origin)
        return rt_leave(invalidate(c, cudaErrorStreamCaptureUnmatched,
                                   "cudaStreamEndCapture: the capture began in another stream"));
    if (!c->invalid && c->mode != cudaStreamCaptureModeRelaxed &&
        !pthread_equal(c->thread, pthread_self()))
        return rt_leave(cudaErrorStreamCaptureWrongThread);
    if (c->invalid)
        error = cudaErrorStreamCaptureInvalidated;
    else if (!is_joined(c))
        error = rt_refuse(cudaErrorStreamCaptureUnjoined,
                          "cudaStreamEndCapture: a stream that joined the capture has work that "
                          "the first one does not wait for: record an event behind it and wait");
    if (error == cudaSuccess)
        *graph = (cudaGraph_t)(void *)c->graph;
    end(c, error == cudaSuccess);
    return rt_leave(error);
}
RT_PTSZ(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (rt_own(stream), graph))

/* ---- questions ---- */

static enum cudaStreamCaptureStatus status_of(const struct rt_stream *s)
{
    if (!s->capture)
        return cudaStreamCaptureStatusNone;
    return s->capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

static cudaError_t ask(cudaStream_t stream, const void *out, struct rt_stream **s)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, s);
    if (error == cudaSuccess)
        error = check_legacy(*s, true);
    return error;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *out)
{
    struct rt_stream *s = NULL;
    cudaError_t error = ask(stream, out, &s);
    if (error == cudaSuccess)
        *out = status_of(s);
    return rt_leave(error);
}
RT_PTSZ(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *out),
        (rt_own(stream), out))

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *out,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *count)
{
    struct rt_stream *s = NULL;
    cudaError_t error = ask(stream, out, &s);
    if (error != cudaSuccess)
        return rt_leave(error);
    *out = status_of(s);
    bool active = *out == cudaStreamCaptureStatusActive;
    if (id)
        *id = s->capture ? s->capture->id : 0;
    if (graph && active)
        *graph = (cudaGraph_t)(void *)s->capture->graph;
    if (dependencies && active)
        *dependencies = (const cudaGraphNode_t *)(const void *)s->captured;
    if (edges && active)
        *edges = NULL;
    if (count && active)
        *count = s->captured_count;
    return rt_leave(cudaSuccess);
}
RT_PTSZ(cudaStreamGetCaptureInfo,
        (cudaStream_t stream, enum cudaStreamCaptureStatus *out, unsigned long long *id,
         cudaGraph_t *graph, const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
         size_t *count),
        (rt_own(stream), out, id, graph, dependencies, edges, count))

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *edges, size_t count,
                                                unsigned flags)
{
    (void)edges;
    struct rt_stream *s = NULL;
    struct graph_node **set = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && flags > cudaStreamSetCaptureDependencies)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && !s->capture)
        error = cudaErrorIllegalState;
    if (error == cudaSuccess && s->capture->invalid)
        error = cudaErrorStreamCaptureInvalidated;
    if (error == cudaSuccess)
        error = graph_find_set(s->capture->graph, dependencies, count, &set);
    if (error == cudaSuccess && flags == cudaStreamSetCaptureDependencies)
        s->captured_count = 0;
    if (error == cudaSuccess)
        unite(&s->captured, &s->captured_count, set, count);
    free(set);
    return rt_leave(error);
}
RT_PTSZ(cudaStreamUpdateCaptureDependencies,
        (cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
         size_t count, unsigned flags),
        (rt_own(stream), dependencies, edges, count, flags))

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        enum cudaStreamCaptureMode before = thread_mode;
        thread_mode = *mode;
        *mode = before;
    }
    return rt_leave(error);
}
