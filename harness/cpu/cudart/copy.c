/* Copies and fills. Each side of a copy is looked up: device memory (the machine's bytes, bounds
 * checked, definedness kept), host memory that kernels can reach, or plain host memory, which is
 * taken at its word as CUDA does. What cudaMemcpyKind says has to fit.
 *
 * Which calls wait is CUDA's "API synchronization behavior": everything to pageable memory does;
 * from pageable memory the bytes are taken at the call; cudaMemcpy does not wait between two places
 * on the device, nor cudaMemset on the device. */
#include "cpu/cudart/queue.h"

#include <string.h>

struct side {
    bool on_device; /* device memory: not what host code may use */
    bool reachable; /* device, pinned or managed: valid where a device pointer is asked for */
    uint64_t address;
};

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Resolves [pointer, pointer + bytes); an error names what is wrong with it. */
static cudaError_t find_side(const char *call, const char *verb, const void *pointer, size_t bytes,
                             struct side *side)
{
    struct vm_memory_info info;
    char device_address[256];
    *side = (struct side){.address = (uint64_t)(uintptr_t)pointer};
    vm_memory_info(rt.vm, side->address, &info);
    if (info.kind == VM_MEMORY_UNKNOWN) {
        vm_explain_host_address(rt.vm, pointer, device_address, sizeof device_address);
        if (device_address[0])
            return rt_refuse(cudaErrorInvalidValue,
                             "%s %s %p, which is outside of every allocation", call, verb, pointer);
        if (!pointer)
            return rt_refuse(cudaErrorInvalidValue, "%s %s a NULL pointer", call, verb);
        return cudaSuccess;
    }
    if (info.freed)
        return rt_refuse(cudaErrorInvalidValue, "%s %s memory that was freed (%p)", call, verb,
                         pointer);
    side->on_device = info.kind == VM_MEMORY_DEVICE;
    side->reachable = true;
    if (vm_bytes(rt.vm, side->address, bytes))
        return cudaSuccess;
    if (!side->on_device) { /* a host range that reaches past its pinned part: still host memory */
        side->reachable = false;
        return cudaSuccess;
    }
    uint64_t left = info.bytes - (side->address - info.base);
    return rt_refuse(cudaErrorInvalidValue,
                     "%s %s %zu byte%s of device memory%s%s%s where %llu are left in the "
                     "allocation of %llu",
                     call, verb, bytes, plural(bytes), info.name ? " `" : "",
                     info.name ? info.name : "", info.name ? "`" : "", (unsigned long long)left,
                     (unsigned long long)info.bytes);
}

static cudaError_t check_kind(const char *call, enum cudaMemcpyKind kind, const struct side *to,
                              const struct side *from)
{
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault)
        return cudaSuccess;
    if (kind == cudaMemcpyHostToHost) { /* CUDA takes any pointer here; it is still a mistake */
        if (to->on_device || from->on_device)
            rt_refuse(cudaSuccess, "%s: the kind says from host to host; %p is device memory", call,
                      (void *)(uintptr_t)(to->on_device ? to->address : from->address));
        return cudaSuccess;
    }
    if (to_device && !to->reachable)
        return rt_refuse(cudaErrorInvalidValue,
                         "%s: the kind says that the destination is on the device; %p is host "
                         "memory",
                         call, (void *)(uintptr_t)to->address);
    if (from_device && !from->reachable)
        return rt_refuse(cudaErrorInvalidValue,
                         "%s: the kind says that the source is on the device; %p is host memory",
                         call, (void *)(uintptr_t)from->address);
    if (!to_device && to->on_device)
        return rt_refuse(cudaErrorInvalidValue,
                         "%s: the kind says that the destination is on the host; %p is device "
                         "memory",
                         call, (void *)(uintptr_t)to->address);
    if (!from_device && from->on_device)
        return rt_refuse(cudaErrorInvalidValue,
                         "%s: the kind says that the source is on the host; %p is device memory",
                         call, (void *)(uintptr_t)from->address);
    return cudaSuccess;
}

static char *row_of(struct rt_pitched p, size_t y, size_t z)
{
    return (char *)p.at + z * p.slice + y * p.pitch;
}

/* Rows that lie behind each other are looked up as one, so that a message gives the whole size. */
static struct rt_box merged(struct rt_box box, struct rt_pitched a, struct rt_pitched b)
{
    if (box.height > 1 && (a.pitch != box.width || b.pitch != box.width))
        return box;
    if (box.depth > 1 && (a.slice != box.width * box.height || b.slice != a.slice))
        return box;
    return (struct rt_box){box.width * box.height * box.depth, 1, 1};
}

cudaError_t work_make_copy(struct rt_work *work, const char *call, struct rt_pitched to,
                           struct rt_pitched from, struct rt_box box, enum cudaMemcpyKind kind)
{
    struct rt_work w = {.kind = WORK_COPY, .call = call};
    if (box.width == 0 || box.height == 0 || box.depth == 0) {
        *work = (struct rt_work){.kind = WORK_NOTHING, .call = call};
        return cudaSuccess;
    }
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    box = merged(box, to, from);
    w.copy.to = to;
    w.copy.from = from;
    w.copy.box = box;
    w.copy.kind = kind;
    w.copy.to_reachable = w.copy.from_reachable = true;
    for (size_t z = 0; z < box.depth; z++) {
        for (size_t y = 0; y < box.height; y++) {
            struct side target, source;
            cudaError_t error = find_side(call, "writes", row_of(to, y, z), box.width, &target);
            if (error == cudaSuccess)
                error = find_side(call, "reads", row_of(from, y, z), box.width, &source);
            if (error == cudaSuccess)
                error = check_kind(call, kind, &target, &source);
            if (error != cudaSuccess)
                return error;
            w.copy.to_device = target.on_device;
            w.copy.from_device = source.on_device;
            w.copy.to_reachable &= target.reachable;
            w.copy.from_reachable &= source.reachable;
        }
    }
    *work = w;
    return cudaSuccess;
}

/* Queues a copy. `wait`: the call is one of those without Async. */
static cudaError_t submit_copy(struct rt_stream *s, struct rt_work *work, bool wait)
{
    if (work->kind == WORK_NOTHING)
        return cudaSuccess;
    bool on_device = work->copy.to_device && work->copy.from_device;
    bool waits = (wait && !on_device) || !work->copy.to_reachable;
    bool captured = s->capture != NULL;
    cudaError_t error = queue_submit(s, work);
    if (error != cudaSuccess || !waits || captured)
        return error;
    queue_wait_stream(s);
    return rt_fault();
}

static struct rt_pitched flat(const void *at)
{
    return (struct rt_pitched){(void *)(uintptr_t)at, 0, 0};
}

cudaError_t rt_copy(const char *call, void *to, const void *from, size_t bytes,
                    enum cudaMemcpyKind kind, struct rt_stream *stream, bool wait)
{
    struct rt_work work;
    struct rt_box box = {bytes, 1, 1};
    cudaError_t error = work_make_copy(&work, call, flat(to), flat(from), box, kind);
    return error == cudaSuccess ? submit_copy(stream, &work, wait) : error;
}

static cudaError_t copy_call(const char *call, void *to, const void *from, size_t bytes,
                             enum cudaMemcpyKind kind, cudaStream_t stream, bool wait)
{
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = rt_copy(call, to, from, bytes, kind, s, wait);
    return rt_leave(error);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_call("cudaMemcpy", to, from, bytes, kind, NULL, true);
}
RT_PER_THREAD(cudaMemcpy_ptds, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
              copy_call("cudaMemcpy", to, from, bytes, kind, cudaStreamPerThread, true))

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy_call("cudaMemcpyAsync", to, from, bytes, kind, stream, false);
}
RT_PTSZ(cudaMemcpyAsync,
        (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
        (to, from, bytes, kind, rt_own(stream)))

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    if (to_device != 0 || from_device != 0) {
        rt_lock();
        return rt_leave(cudaErrorInvalidDevice);
    }
    return copy_call("cudaMemcpyPeerAsync", to, from, bytes, cudaMemcpyDeviceToDevice, stream,
                     false);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

/* ---- rows and slices ---- */

static cudaError_t copy_box(const char *call, struct rt_pitched to, struct rt_pitched from,
                            struct rt_box box, enum cudaMemcpyKind kind, cudaStream_t stream,
                            bool wait)
{
    struct rt_work work;
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && (to.pitch < box.width || from.pitch < box.width))
        error = rt_refuse(box.height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue,
                          "%s: rows of %zu bytes do not fit into a pitch of %zu", call, box.width,
                          to.pitch < from.pitch ? to.pitch : from.pitch);
    if (error == cudaSuccess)
        error = work_make_copy(&work, call, to, from, box, kind);
    if (error == cudaSuccess)
        error = submit_copy(s, &work, wait);
    return rt_leave(error);
}

static cudaError_t copy_2d(const char *call, void *to, size_t to_pitch, const void *from,
                           size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                           cudaStream_t stream, bool wait)
{
    return copy_box(call, (struct rt_pitched){to, to_pitch, 0},
                    (struct rt_pitched){(void *)(uintptr_t)from, from_pitch, 0},
                    (struct rt_box){width, height, 1}, kind, stream, wait);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return copy_2d("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream,
                   false);
}
RT_PTSZ(cudaMemcpy2DAsync,
        (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
         size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
        (to, to_pitch, from, from_pitch, width, height, kind, rt_own(stream)))

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, NULL, true);
}
RT_PER_THREAD(cudaMemcpy2D_ptds,
              (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
               size_t height, enum cudaMemcpyKind kind),
              copy_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind,
                      cudaStreamPerThread, true))

struct rt_pitched rt_pitched_at(struct cudaPitchedPtr p, struct cudaPos pos)
{
    size_t slice = p.pitch * p.ysize;
    return (struct rt_pitched){(char *)p.ptr + pos.z * slice + pos.y * p.pitch + pos.x, p.pitch,
                               slice};
}

static cudaError_t copy_3d(const char *call, const struct cudaMemcpy3DParms *p, cudaStream_t stream,
                           bool wait)
{
    if (!p || p->srcArray || p->dstArray) {
        cudaError_t error = rt_enter();
        if (error == cudaSuccess)
            error = !p ? cudaErrorInvalidValue
                       : rt_refuse(cudaErrorNotSupported, "%s: the CPU device has no CUDA arrays",
                                   call);
        return rt_leave(error);
    }
    return copy_box(call, rt_pitched_at(p->dstPtr, p->dstPos), rt_pitched_at(p->srcPtr, p->srcPos),
                    (struct rt_box){p->extent.width, p->extent.height, p->extent.depth}, p->kind,
                    stream, wait);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy_3d("cudaMemcpy3DAsync", p, stream, false);
}
RT_PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
        (p, rt_own(stream)))

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return copy_3d("cudaMemcpy3D", p, NULL, true);
}
RT_PER_THREAD(cudaMemcpy3D_ptds, (const struct cudaMemcpy3DParms *p),
              copy_3d("cudaMemcpy3D", p, cudaStreamPerThread, true))

/* ---- between devices: there is one ---- */

static cudaError_t copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                                bool wait)
{
    struct cudaMemcpy3DParms same = {.kind = cudaMemcpyDeviceToDevice};
    if (!p || p->srcDevice != 0 || p->dstDevice != 0) {
        rt_lock();
        return rt_leave(p ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    }
    same.srcArray = p->srcArray;
    same.srcPos = p->srcPos;
    same.srcPtr = p->srcPtr;
    same.dstArray = p->dstArray;
    same.dstPos = p->dstPos;
    same.dstPtr = p->dstPtr;
    same.extent = p->extent;
    return copy_3d("cudaMemcpy3DPeer", &same, stream, wait);
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_3d_peer(p, stream, false);
}
RT_PTSZ(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream),
        (p, rt_own(stream)))

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy_3d_peer(p, NULL, true);
}
RT_PER_THREAD(cudaMemcpy3DPeer_ptds, (const struct cudaMemcpy3DPeerParms *p),
              copy_3d_peer(p, cudaStreamPerThread, true))

/* ---- many at once ---- */

/* NOLINTBEGIN(readability-non-const-parameter): the signatures are CUDA's */
/* In the order given, which is one of those that are allowed. */
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
                                 size_t count, struct cudaMemcpyAttributes *attributes,
                                 size_t *indexes, size_t attribute_count, cudaStream_t stream)
{
    struct rt_stream *s = NULL;
    bool now = false; /* sources must have been read when the call returns */
    (void)indexes;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (count == 0 || !to || !from || !sizes || !attributes))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    for (size_t i = 0; i < attribute_count && error == cudaSuccess; i++)
        now |= attributes[i].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error =
            rt_copy("cudaMemcpyBatchAsync", to[i], from[i], sizes[i], cudaMemcpyDefault, s, false);
    if (error == cudaSuccess && now && !s->capture) {
        queue_wait_stream(s);
        error = rt_fault();
    }
    return rt_leave(error);
}
RT_PTSZ(cudaMemcpyBatchAsync,
        (void *const *to, const void *const *from, const size_t *sizes, size_t count,
         struct cudaMemcpyAttributes *attributes, size_t *indexes, size_t attribute_count,
         cudaStream_t stream),
        (to, from, sizes, count, attributes, indexes, attribute_count, rt_own(stream)))
/* NOLINTEND(readability-non-const-parameter) */

/* ---- fills ---- */

cudaError_t work_make_fill(struct rt_work *work, const char *call, struct rt_pitched to,
                           struct rt_box box, unsigned value, unsigned element)
{
    struct rt_work w = {.kind = WORK_FILL, .call = call};
    if (box.height * box.depth > 1 && to.pitch < box.width)
        return rt_refuse(cudaErrorInvalidValue,
                         "%s: rows of %zu bytes do not fit into a pitch of %zu", call, box.width,
                         to.pitch);
    if (box.width == 0 || box.height == 0 || box.depth == 0) {
        *work = (struct rt_work){.kind = WORK_NOTHING, .call = call};
        return cudaSuccess;
    }
    box = merged(box, to, to);
    w.fill.to = to;
    w.fill.box = box;
    w.fill.value = value;
    w.fill.element = element;
    for (size_t z = 0; z < box.depth; z++) {
        for (size_t y = 0; y < box.height; y++) {
            struct side side;
            cudaError_t error = find_side(call, "writes", row_of(to, y, z), box.width, &side);
            if (error == cudaSuccess && !side.reachable)
                error = rt_refuse(cudaErrorInvalidValue, "%s: %p is not device memory", call,
                                  (void *)row_of(to, y, z));
            if (error != cudaSuccess)
                return error;
            w.fill.on_device = side.on_device;
        }
    }
    *work = w;
    return cudaSuccess;
}

static cudaError_t fill(const char *call, struct rt_pitched to, int value, struct rt_box box,
                        cudaStream_t stream, bool wait)
{
    struct rt_work work = {.kind = WORK_NOTHING};
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = work_make_fill(&work, call, to, box, (unsigned)value, 1);
    if (error != cudaSuccess || work.kind == WORK_NOTHING)
        return rt_leave(error);
    bool waits = wait && !work.fill.on_device && !s->capture;
    error = queue_submit(s, &work);
    if (error == cudaSuccess && waits) {
        queue_wait_stream(s);
        error = rt_fault();
    }
    return rt_leave(error);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill("cudaMemsetAsync", flat(to), value, (struct rt_box){bytes, 1, 1}, stream, false);
}
RT_PTSZ(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream),
        (to, value, bytes, rt_own(stream)))

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return fill("cudaMemset", flat(to), value, (struct rt_box){bytes, 1, 1}, NULL, true);
}
RT_PER_THREAD(cudaMemset_ptds, (void *to, int value, size_t bytes),
              fill("cudaMemset", flat(to), value, (struct rt_box){bytes, 1, 1}, cudaStreamPerThread,
                   true))

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return fill("cudaMemset2DAsync", (struct rt_pitched){to, pitch, 0}, value,
                (struct rt_box){width, height, 1}, stream, false);
}
RT_PTSZ(cudaMemset2DAsync,
        (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
        (to, pitch, value, width, height, rt_own(stream)))

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill("cudaMemset2D", (struct rt_pitched){to, pitch, 0}, value,
                (struct rt_box){width, height, 1}, NULL, true);
}
RT_PER_THREAD(cudaMemset2D_ptds, (void *to, size_t pitch, int value, size_t width, size_t height),
              fill("cudaMemset2D", (struct rt_pitched){to, pitch, 0}, value,
                   (struct rt_box){width, height, 1}, cudaStreamPerThread, true))

static cudaError_t fill_3d(const char *call, struct cudaPitchedPtr to, int value,
                           struct cudaExtent extent, cudaStream_t stream, bool wait)
{
    return fill(call, rt_pitched_at(to, (struct cudaPos){0, 0, 0}), value,
                (struct rt_box){extent.width, extent.height, extent.depth}, stream, wait);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    return fill_3d("cudaMemset3DAsync", to, value, extent, stream, false);
}
RT_PTSZ(cudaMemset3DAsync,
        (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream),
        (to, value, extent, rt_own(stream)))

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return fill_3d("cudaMemset3D", to, value, extent, NULL, true);
}
RT_PER_THREAD(cudaMemset3D_ptds, (struct cudaPitchedPtr to, int value, struct cudaExtent extent),
              fill_3d("cudaMemset3D", to, value, extent, cudaStreamPerThread, true))
