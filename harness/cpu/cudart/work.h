/* work: one thing that the device does for a stream or as a node of a graph: a kernel with its
 * packed arguments, a copy, a fill, a call of a host function, a stream-ordered allocation.
 *
 * A call checks its arguments and makes the work; queue.c says when it runs. Plain data apart from
 * what work_release() frees, so a graph can keep it and run clones of it. */
#ifndef CPU_CUDART_WORK_H
#define CPU_CUDART_WORK_H

#include "cpu/cudart/runtime.h"

enum rt_work_kind {
    WORK_NOTHING, /* an empty node, the join of a graph's branches */
    WORK_KERNEL,
    WORK_COPY,
    WORK_FILL,
    WORK_HOST,     /* cudaLaunchHostFunc */
    WORK_CALLBACK, /* cudaStreamAddCallback */
    WORK_ALLOCATE, /* cudaMallocAsync: the address exists already, this is when it may be used */
    WORK_FREE,     /* cudaFreeAsync */
    WORK_RECORD,   /* the time of an event */
};

struct rt_pitched {
    void *at;
    size_t pitch, slice; /* bytes from row to row, from slice to slice */
};

struct rt_box { /* `height` rows of `width` bytes, `depth` times */
    size_t width, height, depth;
};

struct rt_work {
    enum rt_work_kind kind;
    const char *call; /* the API function, for messages; static */
    union {
        struct {
            struct rt_function *function; /* NULL: its module is gone */
            struct rt_launch shape;
            unsigned char *params; /* owned */
        } kernel;
        struct {
            struct rt_pitched to, from;
            struct rt_box box;
            enum cudaMemcpyKind kind;
            bool to_device, from_device;       /* device memory: not what host code may touch */
            bool to_reachable, from_reachable; /* device, pinned or managed */
            unsigned char *staged; /* owned; the source as it was at the call, or NULL */
        } copy;
        struct {
            struct rt_pitched to;
            struct rt_box box;       /* width in bytes */
            unsigned value, element; /* 1, 2 or 4 bytes of value */
            bool on_device;
        } fill;
        struct {
            cudaHostFn_t function;
            void *argument;
        } host;
        struct {
            cudaStreamCallback_t function;
            cudaStream_t stream;
            void *argument;
        } callback;
        struct {
            void *base;
            size_t bytes;
        } memory;
        struct {
            struct rt_event *event; /* a reference */
            uint64_t record;        /* which of its records */
        } record;
    };
};

/* A copy that owns what it needs. */
void work_clone(struct rt_work *to, const struct rt_work *from);
void work_release(struct rt_work *work);

/* "kernel `scan` on stream 3". Returns `out`. */
char *work_describe(const struct rt_work *work, const char *stream, char *out, size_t out_bytes);
/* Does it touch memory of the program or call it: what nobody may leave behind? */
bool work_matters(const struct rt_work *work);

/* The pinned memory that a copy writes, as addresses [*low, *high). false: it is no such copy. */
bool work_pinned_target(const struct rt_work *work, uint64_t *low, uint64_t *high);
/* Could it look at host memory in [low, high), or write there? In doubt it could. */
bool work_may_touch(const struct rt_work *work, uint64_t low, uint64_t high);
/* Fills the target of a copy: what it holds before the copy is done is nothing to count on. */
void work_obscure(const struct rt_work *work);

/* Does it, for everything but host functions (queue.c runs those without the lock). The operation
 * has begun. On a device with a fault nothing happens. */
void work_run(const struct rt_work *work, const char *what);

/* ---- making it; the error is what the call returns ---- */

/* The address ranges are checked; `work` is left alone on an error. */
cudaError_t work_make_copy(struct rt_work *work, const char *call, struct rt_pitched to,
                           struct rt_pitched from, struct rt_box box, enum cudaMemcpyKind kind);
cudaError_t work_make_fill(struct rt_work *work, const char *call, struct rt_pitched to,
                           struct rt_box box, unsigned value, unsigned element);
cudaError_t work_make_kernel(struct rt_work *work, const char *call, const void *function,
                             const struct rt_launch *launch, void **args);
struct rt_pitched rt_pitched_at(struct cudaPitchedPtr p, struct cudaPos pos);
/* Takes the source's bytes now: the program may change pageable memory after the call. */
void work_stage(struct rt_work *work);

#endif
