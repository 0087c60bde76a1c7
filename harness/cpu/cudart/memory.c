/* Allocating. Device memory is the machine's; pinned and managed memory is ordinary host memory
 * that kernels can also reach, under the same address. Freeing waits for all of the device, as on a
 * card; only memory of cudaMallocAsync goes at once, in cudaFreeAsync()'s place in its stream or,
 * by cudaFree(), without waiting for anybody. */
#include "cpu/cudart/capture.h"
#include "cpu/cudart/queue.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PITCH = 512, LARGEST_PITCH = 0x7fffffff };

static const char *const kind_names[] = {
    [RT_DEVICE] = "cudaMalloc",
    [RT_MANAGED] = "cudaMallocManaged",
    [RT_PINNED] = "cudaMallocHost",
    [RT_REGISTERED] = "cudaHostRegister",
};

static struct rt_allocation *note(enum rt_allocation_kind kind, void *base, size_t bytes,
                                  unsigned flags)
{
    static uint64_t serials;
    struct rt_allocation *a = calloc(1, sizeof *a);
    if (!a)
        BUG("out of memory for the list of allocations");
    *a = (struct rt_allocation){
        .kind = kind, .base = base, .bytes = bytes, .serial = ++serials, .flags = flags};
    a->preferred = a->accessed_by = a->prefetched = cudaInvalidDeviceId;
    map_put(&rt.allocations, base, a);
    return a;
}

struct rt_allocation *rt_allocation_at(const void *pointer)
{
    struct vm_memory_info info;
    vm_memory_info(rt.vm, (uint64_t)(uintptr_t)pointer, &info);
    if (info.kind == VM_MEMORY_UNKNOWN || info.freed)
        return NULL;
    return map_get(&rt.allocations, (void *)(uintptr_t)info.base);
}

cudaError_t rt_allocate(void **out, size_t bytes, struct rt_pool *pool)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    uint64_t address = vm_malloc(rt.vm, bytes);
    if (!address) { /* a queued cudaFreeAsync may give some back */
        queue_make_room();
        address = vm_malloc(rt.vm, bytes);
    }
    if (!address)
        return rt_refuse(cudaErrorMemoryAllocation,
                         "no device memory for %zu bytes: %llu of %llu are in use", bytes,
                         (unsigned long long)vm_memory_used(rt.vm),
                         (unsigned long long)rt.limits.memory_bytes);
    *out = (void *)(uintptr_t)address;
    vm_count(rt.vm, COUNTER_device_bytes_allocated, bytes);
    note(RT_DEVICE, *out, bytes, 0)->pool = pool;
    return cudaSuccess;
}

/* Host memory that kernels can reach. */
static cudaError_t allocate_host(void **out, size_t bytes, enum rt_allocation_kind kind,
                                 unsigned flags)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    void *host = NULL;
    if (posix_memalign(&host, (size_t)sysconf(_SC_PAGESIZE), bytes) != 0)
        return cudaErrorMemoryAllocation;
    if (!vm_map_host(rt.vm, host, bytes, true)) {
        free(host);
        return cudaErrorMemoryAllocation;
    }
    note(kind, host, bytes, flags);
    *out = host;
    return cudaSuccess;
}

static void drop(struct rt_allocation *a)
{
    map_remove(&rt.allocations, a->base);
    if (a->kind == RT_DEVICE) {
        vm_free_memory(rt.vm, (uint64_t)(uintptr_t)a->base);
    } else {
        vm_unmap_host(rt.vm, a->base);
        if (a->kind != RT_REGISTERED)
            free(a->base);
    }
    free(a);
}

/* Why `pointer` is not the start of an allocation that `call` may free. */
static cudaError_t refuse_free(const char *call, const void *pointer)
{
    struct vm_memory_info info;
    vm_memory_info(rt.vm, (uint64_t)(uintptr_t)pointer, &info);
    struct rt_allocation *a = rt_allocation_at(pointer);
    if (info.freed)
        return rt_refuse(cudaErrorInvalidValue, "%s: %p was freed before", call, pointer);
    if (a && a->base != pointer)
        return rt_refuse(cudaErrorInvalidValue,
                         "%s: %p is %zu bytes behind the start of an allocation", call, pointer,
                         (size_t)((const char *)pointer - (const char *)a->base));
    if (a)
        return rt_refuse(cudaErrorInvalidValue, "%s: %p comes from %s", call, pointer,
                         kind_names[a->kind]);
    return rt_refuse(cudaErrorInvalidValue, "%s: %p is no memory that CUDA allocated", call,
                     pointer);
}

cudaError_t rt_find_to_free(const char *call, void *pointer, struct rt_allocation **out)
{
    struct rt_allocation *a = map_get(&rt.allocations, pointer);
    if (!a || (a->kind != RT_DEVICE && a->kind != RT_MANAGED))
        return refuse_free(call, pointer);
    if (a->freeing || (a->graph_nodes > 0 && !a->graph_live))
        return rt_refuse(cudaErrorInvalidValue, "%s: %p was freed before", call, pointer);
    *out = a;
    return cudaSuccess;
}

void rt_free_now(void *base)
{
    struct rt_allocation *a = map_get(&rt.allocations, base);
    if (a && a->graph_nodes > 0) {
        a->graph_live = a->freeing = false;
        vm_mark_undefined(rt.vm, (uint64_t)(uintptr_t)base, a->bytes);
    } else if (a) {
        drop(a);
    }
}

void rt_keep_graph_memory(void *base)
{
    struct rt_allocation *a = map_get(&rt.allocations, base);
    if (a)
        a->graph_nodes++;
}

void rt_drop_graph_memory(void *base)
{
    struct rt_allocation *a = map_get(&rt.allocations, base);
    if (a && a->graph_nodes > 0 && --a->graph_nodes == 0 && !a->graph_live)
        drop(a);
}

void rt_graph_memory_begins(void *base)
{
    struct rt_allocation *a = map_get(&rt.allocations, base);
    if (!a || a->graph_nodes == 0)
        return;
    a->graph_live = true;
    vm_mark_undefined(rt.vm, (uint64_t)(uintptr_t)base, a->bytes);
}

cudaError_t rt_free(void *pointer)
{
    struct rt_allocation *a = NULL;
    if (!pointer)
        return cudaSuccess;
    cudaError_t error = rt_find_to_free("cudaFree", pointer, &a);
    if (error != cudaSuccess || !a)
        return error;
    if (a->pool) { /* "performs no further synchronization" */
        queue_host_operation("cudaFree of memory from cudaMallocAsync");
        vm_operation_writes(rt.vm, (uint64_t)(uintptr_t)pointer, a->bytes);
        rt_free_now(pointer);
        return cudaSuccess;
    }
    queue_wait_all();
    if (rt_fault() == cudaSuccess)
        rt_free_now(pointer);
    return rt_fault();
}

void rt_free_everything(void)
{
    size_t position = 0;
    for (struct rt_allocation *a; (a = map_next(&rt.allocations, &position));)
        drop(a);
}

/* For calls that allocate or free: a capture in progress forbids most of them. */
static cudaError_t enter(void)
{
    cudaError_t error = rt_enter();
    return error == cudaSuccess ? capture_check_unsafe() : error;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = rt_allocate(out, bytes, NULL);
    return rt_leave(error);
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    cudaError_t error = enter();
    if (error == cudaSuccess && (!out || !pitch || width > LARGEST_PITCH - PITCH))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        *pitch = (width + PITCH - 1) / PITCH * PITCH;
        error = height > 0 && *pitch > SIZE_MAX / height ? cudaErrorMemoryAllocation
                                                         : rt_allocate(out, *pitch * height, NULL);
    }
    return rt_leave(error);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    if (!out) {
        rt_lock();
        return rt_leave(cudaErrorInvalidValue);
    }
    size_t rows;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) {
        rt_lock();
        return rt_leave(cudaErrorMemoryAllocation);
    }
    out->xsize = extent.width;
    out->ysize = extent.height;
    return cudaMallocPitch(&out->ptr, &out->pitch, extent.width, rows);
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    cudaError_t error = enter();
    if (error == cudaSuccess && flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = allocate_host(out, bytes, RT_MANAGED, flags);
    return rt_leave(error);
}

cudaError_t cudaFree(void *pointer)
{
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = rt_free(pointer);
    return rt_leave(error);
}

/* ---- pinned and registered host memory ---- */

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    cudaError_t error = enter();
    if (error == cudaSuccess && (flags & ~known))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = allocate_host(out, bytes, RT_PINNED, flags | cudaHostAllocMapped);
    return rt_leave(error);
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    return cudaHostAlloc(out, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *pointer)
{
    cudaError_t error = enter();
    if (error == cudaSuccess && pointer) {
        struct rt_allocation *a = map_get(&rt.allocations, pointer);
        if (a && a->kind == RT_PINNED) {
            queue_wait_all();
            rt_free_now(pointer);
            error = rt_fault();
        } else {
            error = refuse_free("cudaFreeHost", pointer);
        }
    }
    return rt_leave(error);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                           cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    cudaError_t error = enter();
    if (error == cudaSuccess && (!pointer || bytes == 0 || (flags & ~known)))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        struct rt_allocation *a = rt_allocation_at(pointer);
        if (a && a->kind != RT_REGISTERED)
            error = cudaErrorInvalidValue;
        else if (vm_map_host(rt.vm, pointer, bytes, true))
            note(RT_REGISTERED, pointer, bytes, flags | cudaHostRegisterMapped);
        else
            error = cudaErrorHostMemoryAlreadyRegistered;
    }
    return rt_leave(error);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    cudaError_t error = enter();
    if (error == cudaSuccess) {
        struct rt_allocation *a = map_get(&rt.allocations, pointer);
        if (a && a->kind == RT_REGISTERED) {
            queue_wait_all();
            rt_free_now(pointer);
            error = rt_fault();
        } else {
            error = cudaErrorHostMemoryNotRegistered;
        }
    }
    return rt_leave(error);
}

bool rt_is_pinned(const struct rt_allocation *a)
{
    return a && (a->kind == RT_PINNED || a->kind == RT_REGISTERED);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!device || flags != 0 || !rt_is_pinned(rt_allocation_at(host))))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *device = host;
    return rt_leave(error);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    cudaError_t error = rt_enter();
    struct rt_allocation *a = error == cudaSuccess ? rt_allocation_at(host) : NULL;
    if (error == cudaSuccess && (!flags || !rt_is_pinned(a)))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *flags = a->flags;
    return rt_leave(error);
}

/* ---- questions ---- */

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!free_bytes || !total))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        *total = rt.limits.memory_bytes;
        *free_bytes = rt.limits.memory_bytes - vm_memory_used(rt.vm);
    }
    return rt_leave(error);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer)
{
    cudaError_t error = rt_enter_even_if_faulty();
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct vm_memory_info info;
    vm_memory_info(rt.vm, (uint64_t)(uintptr_t)pointer, &info);
    struct rt_allocation *a = rt_allocation_at(pointer);
    memset(out, 0, sizeof *out);
    if (info.kind == VM_MEMORY_UNKNOWN || info.freed) {
        out->type = cudaMemoryTypeUnregistered;
        out->device = cudaInvalidDeviceId;
        out->hostPointer = (void *)(uintptr_t)pointer;
        return rt_leave(cudaSuccess);
    }
    out->device = 0;
    out->devicePointer = (void *)(uintptr_t)pointer;
    if (info.kind == VM_MEMORY_DEVICE) {
        out->type = cudaMemoryTypeDevice;
    } else {
        /* What no call allocated is a __managed__ variable. */
        out->type = rt_is_pinned(a) ? cudaMemoryTypeHost : cudaMemoryTypeManaged;
        out->hostPointer = out->devicePointer;
    }
    return rt_leave(cudaSuccess);
}
