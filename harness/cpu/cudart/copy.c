/* Copies and fills. Each side of a copy is looked up: device memory (the machine's bytes, bounds
 * checked, definedness kept), host memory that kernels can reach, or plain host memory, which is
 * taken at its word as CUDA does. What cudaMemcpyKind says has to fit. */
#include "cpu/cudart/runtime.h"

#include <string.h>

struct side {
    bool on_device; /* device memory: `bytes` is not what host code may use */
    bool reachable; /* device, pinned or managed: valid where a device pointer is asked for */
    uint64_t address;
    uint8_t *bytes;
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
        side->bytes = (uint8_t *)(uintptr_t)pointer;
        return cudaSuccess;
    }
    if (info.freed)
        return rt_refuse(cudaErrorInvalidValue, "%s %s memory that was freed (%p)", call, verb,
                         pointer);
    side->on_device = info.kind == VM_MEMORY_DEVICE;
    side->reachable = true;
    side->bytes = vm_bytes(rt.vm, side->address, bytes);
    if (side->bytes)
        return cudaSuccess;
    if (!side->on_device) { /* a host range that reaches past its pinned part: still host memory */
        side->reachable = false;
        side->bytes = (uint8_t *)(uintptr_t)pointer;
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

cudaError_t rt_copy(const char *call, void *to, const void *from, size_t bytes,
                    enum cudaMemcpyKind kind)
{
    struct side target, source;
    if (bytes == 0)
        return cudaSuccess;
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = find_side(call, "writes", to, bytes, &target);
    if (error == cudaSuccess)
        error = find_side(call, "reads", from, bytes, &source);
    if (error == cudaSuccess)
        error = check_kind(call, kind, &target, &source);
    if (error != cudaSuccess)
        return error;
    if (target.on_device && source.on_device) {
        vm_copy(rt.vm, target.address, source.address, bytes);
    } else {
        memmove(target.bytes, source.bytes, bytes);
        if (target.on_device)
            vm_mark_defined(rt.vm, target.address, bytes);
    }
    return cudaSuccess;
}

static cudaError_t copy_call(const char *call, void *to, const void *from, size_t bytes,
                             enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_check_stream(stream);
    if (error == cudaSuccess)
        error = rt_copy(call, to, from, bytes, kind);
    return rt_leave(error);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_call("cudaMemcpy", to, from, bytes, kind, NULL);
}
RT_ALIAS_PTDS(cudaMemcpy);

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy_call("cudaMemcpyAsync", to, from, bytes, kind, stream);
}
RT_ALIAS_PTSZ(cudaMemcpyAsync);

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    if (to_device != 0 || from_device != 0) {
        rt_lock();
        return rt_leave(cudaErrorInvalidDevice);
    }
    return copy_call("cudaMemcpyPeerAsync", to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

/* ---- rows and slices ---- */

struct box { /* `height` rows of `width` bytes, `depth` times */
    size_t width, height, depth;
};

struct pitched {
    const void *at;
    size_t pitch, slice; /* bytes from row to row, from slice to slice */
};

static cudaError_t copy_box(const char *call, struct pitched to, struct pitched from,
                            struct box box, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_check_stream(stream);
    if (error == cudaSuccess && (to.pitch < box.width || from.pitch < box.width))
        error = rt_refuse(box.height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue,
                          "%s: rows of %zu bytes do not fit into a pitch of %zu", call, box.width,
                          to.pitch < from.pitch ? to.pitch : from.pitch);
    for (size_t z = 0; z < box.depth && error == cudaSuccess; z++)
        for (size_t y = 0; y < box.height && error == cudaSuccess; y++)
            error =
                rt_copy(call, (char *)(uintptr_t)to.at + z * to.slice + y * to.pitch,
                        (const char *)from.at + z * from.slice + y * from.pitch, box.width, kind);
    return rt_leave(error);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return copy_box("cudaMemcpy2DAsync", (struct pitched){to, to_pitch, 0},
                    (struct pitched){from, from_pitch, 0}, (struct box){width, height, 1}, kind,
                    stream);
}
RT_ALIAS_PTSZ(cudaMemcpy2DAsync);

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_box("cudaMemcpy2D", (struct pitched){to, to_pitch, 0},
                    (struct pitched){from, from_pitch, 0}, (struct box){width, height, 1}, kind,
                    NULL);
}
RT_ALIAS_PTDS(cudaMemcpy2D);

static struct pitched pitched_at(struct cudaPitchedPtr p, struct cudaPos pos)
{
    size_t slice = p.pitch * p.ysize;
    return (struct pitched){(char *)p.ptr + pos.z * slice + pos.y * p.pitch + pos.x, p.pitch,
                            slice};
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    if (!p || p->srcArray || p->dstArray) {
        cudaError_t error = rt_enter();
        if (error == cudaSuccess)
            error = !p ? cudaErrorInvalidValue
                       : rt_refuse(cudaErrorNotSupported,
                                   "cudaMemcpy3D: the CPU device has no CUDA arrays");
        return rt_leave(error);
    }
    return copy_box(
        "cudaMemcpy3D", pitched_at(p->dstPtr, p->dstPos), pitched_at(p->srcPtr, p->srcPos),
        (struct box){p->extent.width, p->extent.height, p->extent.depth}, p->kind, stream);
}
RT_ALIAS_PTSZ(cudaMemcpy3DAsync);

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return cudaMemcpy3DAsync(p, NULL);
}
RT_ALIAS_PTDS(cudaMemcpy3D);

/* ---- fills ---- */

static cudaError_t fill(const char *call, struct pitched to, int value, struct box box,
                        cudaStream_t stream)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_check_stream(stream);
    if (error == cudaSuccess && box.height * box.depth > 1 && to.pitch < box.width)
        error =
            rt_refuse(cudaErrorInvalidValue, "%s: rows of %zu bytes do not fit into a pitch of %zu",
                      call, box.width, to.pitch);
    for (size_t z = 0; z < box.depth && error == cudaSuccess; z++) {
        for (size_t y = 0; y < box.height && box.width > 0 && error == cudaSuccess; y++) {
            const char *row = (const char *)to.at + z * to.slice + y * to.pitch;
            struct side side;
            error = find_side(call, "writes", row, box.width, &side);
            if (error == cudaSuccess && !side.reachable)
                error = rt_refuse(cudaErrorInvalidValue, "%s: %p is not device memory", call,
                                  (const void *)row);
            if (error != cudaSuccess)
                break;
            if (side.bytes)
                memset(side.bytes, value, box.width);
            vm_mark_defined(rt.vm, side.address, box.width);
        }
    }
    return rt_leave(error);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill("cudaMemsetAsync", (struct pitched){to, 0, 0}, value, (struct box){bytes, 1, 1},
                stream);
}
RT_ALIAS_PTSZ(cudaMemsetAsync);

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return fill("cudaMemset", (struct pitched){to, 0, 0}, value, (struct box){bytes, 1, 1}, NULL);
}
RT_ALIAS_PTDS(cudaMemset);

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return fill("cudaMemset2DAsync", (struct pitched){to, pitch, 0}, value,
                (struct box){width, height, 1}, stream);
}
RT_ALIAS_PTSZ(cudaMemset2DAsync);

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill("cudaMemset2D", (struct pitched){to, pitch, 0}, value,
                (struct box){width, height, 1}, NULL);
}
RT_ALIAS_PTDS(cudaMemset2D);

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    return fill("cudaMemset3D", (struct pitched){to.ptr, to.pitch, to.pitch * to.ysize}, value,
                (struct box){extent.width, extent.height, extent.depth}, stream);
}
RT_ALIAS_PTSZ(cudaMemset3DAsync);

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return cudaMemset3DAsync(to, value, extent, NULL);
}
RT_ALIAS_PTDS(cudaMemset3D);
