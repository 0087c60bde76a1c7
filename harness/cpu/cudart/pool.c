/* Memory pools and stream-ordered allocation. A pool is a name with settings: an allocation from it
 * is one of cudaMalloc that remembers its pool, so that the pool's counters can be answered. The
 * address is there at once; from when on it may be used, and until when, are operations of the
 * stream. */
#include "cpu/cudart/capture.h"
#include "cpu/cudart/queue.h"

#include <stdlib.h>
#include <string.h>

struct rt_pool {
    uint64_t release_threshold, used_high;
    int reuse[3]; /* FollowEventDependencies, AllowOpportunistic, AllowInternalDependencies */
};

static struct rt_pool default_pool = {.reuse = {1, 1, 1}};
static struct rt_pool *current_pool = &default_pool;

static struct rt_pool *find(cudaMemPool_t pool)
{
    return (void *)pool == &default_pool ? &default_pool : map_get(&rt.pools, pool);
}

static uint64_t used_bytes(const struct rt_pool *pool)
{
    uint64_t bytes = 0;
    size_t position = 0;
    for (const struct rt_allocation *a; (a = map_next(&rt.allocations, &position));)
        bytes += a->pool == pool ? a->bytes : 0;
    return bytes;
}

void rt_pools_release(void)
{
    size_t position = 0;
    for (struct rt_pool *p; (p = map_next(&rt.pools, &position));)
        free(p);
    map_release(&rt.pools);
    current_pool = &default_pool;
}

/* ---- allocating ---- */

/* From the pool `handle`, NULL = the device's current one. */
static cudaError_t allocate_from(cudaMemPool_t handle, void **out, size_t bytes,
                                 cudaStream_t stream)
{
    cudaError_t error = rt_enter();
    struct rt_pool *pool = NULL;
    struct rt_stream *s = NULL;
    struct rt_work work = {.kind = WORK_ALLOCATE, .call = "cudaMallocAsync"};
    if (error == cudaSuccess)
        pool = handle ? find(handle) : current_pool;
    if (error == cudaSuccess && !pool)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && !s->capture)
        error = capture_check_unsafe();
    if (error == cudaSuccess)
        error = rt_allocate(out, bytes, pool);
    if (error == cudaSuccess) {
        uint64_t used = used_bytes(pool);
        pool->used_high = used > pool->used_high ? used : pool->used_high;
    }
    if (error == cudaSuccess && *out) {
        work.memory.base = *out;
        work.memory.bytes = bytes;
        error = queue_submit(s, &work);
        if (error != cudaSuccess) /* in a capture that is invalid */
            rt_free_now(*out);
    }
    return rt_leave(error);
}

cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t handle,
                                    cudaStream_t stream)
{
    if (!handle) {
        rt_lock();
        return rt_leave(cudaErrorInvalidValue);
    }
    return allocate_from(handle, out, bytes, stream);
}
RT_PTSZ(cudaMallocFromPoolAsync,
        (void **out, size_t bytes, cudaMemPool_t handle, cudaStream_t stream),
        (out, bytes, handle, rt_own(stream)))

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    return allocate_from(NULL, out, bytes, stream);
}
RT_PTSZ(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream),
        (out, bytes, rt_own(stream)))

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    struct rt_stream *s = NULL;
    struct rt_allocation *a = NULL;
    struct rt_work work = {.kind = WORK_FREE, .call = "cudaFreeAsync"};
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && !s->capture)
        error = capture_check_unsafe();
    if (error == cudaSuccess && pointer && s->capture)
        a = rt_allocation_at(pointer); /* a launch of the graph will free it */
    if (error == cudaSuccess && pointer && !(a && a->graph_nodes > 0))
        error = rt_find_to_free("cudaFreeAsync", pointer, &a);
    if (error == cudaSuccess && a) {
        a->freeing = !s->capture;
        work.memory.base = pointer;
        work.memory.bytes = a->bytes;
        error = queue_submit(s, &work);
    }
    return rt_leave(error);
}
RT_PTSZ(cudaFreeAsync, (void *pointer, cudaStream_t stream), (pointer, rt_own(stream)))

/* ---- pools ---- */

cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *props)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!out || !props))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && (props->allocType != cudaMemAllocationTypePinned ||
                                 props->location.type != cudaMemLocationTypeDevice))
        error = cudaErrorNotSupported;
    if (error == cudaSuccess && props->location.id != 0)
        error = cudaErrorInvalidDevice;
    if (error != cudaSuccess)
        return rt_leave(error);
    struct rt_pool *pool = malloc(sizeof *pool);
    if (!pool)
        return rt_leave(cudaErrorMemoryAllocation);
    *pool = (struct rt_pool){.reuse = {1, 1, 1}};
    map_put(&rt.pools, pool, pool);
    *out = (cudaMemPool_t)(void *)pool;
    return rt_leave(cudaSuccess);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle)
{
    cudaError_t error = rt_enter();
    struct rt_pool *pool = error == cudaSuccess ? map_remove(&rt.pools, handle) : NULL;
    if (error == cudaSuccess && !pool)
        error = cudaErrorInvalidValue;
    if (pool) { /* its allocations live on */
        size_t position = 0;
        for (struct rt_allocation *a; (a = map_next(&rt.allocations, &position));)
            a->pool = a->pool == pool ? NULL : a->pool;
        if (current_pool == pool)
            current_pool = &default_pool;
        free(pool);
    }
    return rt_leave(error);
}

/* The pool of `handle`, for a call about device 0. */
static cudaError_t about(cudaMemPool_t handle, const void *argument, struct rt_pool **pool)
{
    cudaError_t error = rt_enter();
    if (error != cudaSuccess)
        return error;
    *pool = find(handle);
    return *pool && argument ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep_bytes)
{
    struct rt_pool *pool;
    (void)keep_bytes; /* nothing is kept in reserve */
    return rt_leave(about(handle, &pool, &pool));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attr, void *value)
{
    struct rt_pool *pool;
    cudaError_t error = about(handle, value, &pool);
    if (error != cudaSuccess)
        return rt_leave(error);
    switch (attr) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        memcpy(&pool->reuse[attr - cudaMemPoolReuseFollowEventDependencies], value, sizeof(int));
        break;
    case cudaMemPoolAttrReleaseThreshold:
        memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
        break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        pool->used_high = used_bytes(pool);
        break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
    default:
        error = cudaErrorInvalidValue;
    }
    return rt_leave(error);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attr, void *value)
{
    struct rt_pool *pool;
    cudaError_t error = about(handle, value, &pool);
    if (error != cudaSuccess)
        return rt_leave(error);
    uint64_t number = 0;
    switch (attr) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        memcpy(value, &pool->reuse[attr - cudaMemPoolReuseFollowEventDependencies], sizeof(int));
        return rt_leave(cudaSuccess);
    case cudaMemPoolAttrReleaseThreshold:
        number = pool->release_threshold;
        break;
    case cudaMemPoolAttrReservedMemCurrent: /* no more is reserved than is used */
    case cudaMemPoolAttrUsedMemCurrent:
        number = used_bytes(pool);
        break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        number = pool->used_high;
        break;
    default:
        return rt_leave(cudaErrorInvalidValue);
    }
    memcpy(value, &number, sizeof number);
    return rt_leave(cudaSuccess);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const struct cudaMemAccessDesc *list,
                                 size_t count)
{
    struct rt_pool *pool;
    cudaError_t error = about(handle, list, &pool);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        if (list[i].location.type == cudaMemLocationTypeDevice && list[i].location.id != 0)
            error = cudaErrorInvalidDevice;
    return rt_leave(error);
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t handle,
                                 struct cudaMemLocation *location)
{
    struct rt_pool *pool;
    cudaError_t error = about(handle, flags, &pool);
    if (error == cudaSuccess && !location)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *flags = location->type == cudaMemLocationTypeDevice && location->id == 0
                     ? cudaMemAccessFlagsProtReadWrite
                     : cudaMemAccessFlagsProtNone;
    return rt_leave(error);
}

/* ---- the device's pool ---- */

static cudaError_t give_pool(cudaMemPool_t *out, int device, struct rt_pool *const *pool)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && device != 0)
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess)
        *out = (cudaMemPool_t)(void *)*pool;
    return rt_leave(error);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
{
    struct rt_pool *pool = &default_pool;
    return give_pool(out, device, &pool);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
{
    return give_pool(out, device, &current_pool);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle)
{
    struct rt_pool *pool;
    cudaError_t error = about(handle, &pool, &pool);
    if (error == cudaSuccess && device != 0)
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess)
        current_pool = pool;
    return rt_leave(error);
}

/* ---- the pool of a place: the device has one, the host none ---- */

static cudaError_t about_place(const struct cudaMemLocation *location,
                               enum cudaMemAllocationType type)
{
    if (!location || type != cudaMemAllocationTypePinned)
        return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice)
        return rt_refuse(cudaErrorNotSupported,
                         "memory pools of the CPU device are on the device: for host memory use "
                         "cudaMallocHost");
    return location->id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

static cudaError_t give_pool_of(cudaMemPool_t *out, const struct cudaMemLocation *location,
                                enum cudaMemAllocationType type, struct rt_pool *pool)
{
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = out ? about_place(location, type) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *out = (cudaMemPool_t)(void *)pool;
    return rt_leave(error);
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *out, struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type)
{
    return give_pool_of(out, location, type, &default_pool);
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *out, struct cudaMemLocation *location,
                              enum cudaMemAllocationType type)
{
    return give_pool_of(out, location, type, current_pool);
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                              cudaMemPool_t handle)
{
    struct rt_pool *pool;
    cudaError_t error = about(handle, &pool, &pool);
    if (error == cudaSuccess)
        error = about_place(location, type);
    if (error == cudaSuccess)
        current_pool = pool;
    return rt_leave(error);
}
