/* Hints about managed memory, and what they were. They change nothing here but the answers; the
 * pointer has to be right. */
#include "cpu/cudart/capture.h"

#include <string.h>

/* The managed allocation that `call` is about. */
static cudaError_t find(const char *call, const void *pointer, size_t bytes,
                        struct rt_allocation **out)
{
    *out = rt_allocation_at(pointer);
    if (bytes == 0)
        return cudaErrorInvalidValue;
    if (!*out || (*out)->kind != RT_MANAGED)
        return rt_refuse(cudaErrorInvalidValue, "%s: %p is not managed memory", call, pointer);
    return cudaSuccess;
}

static int place_of(struct cudaMemLocation location)
{
    return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    struct rt_allocation *a = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = find("cudaMemAdvise", pointer, bytes, &a);
    if (error != cudaSuccess)
        return rt_leave(error);
    switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
        a->read_mostly = advice == cudaMemAdviseSetReadMostly;
        break;
    case cudaMemAdviseSetPreferredLocation:
        a->preferred = place_of(location);
        break;
    case cudaMemAdviseUnsetPreferredLocation:
        a->preferred = cudaInvalidDeviceId;
        break;
    case cudaMemAdviseSetAccessedBy:
        a->accessed_by = place_of(location);
        break;
    case cudaMemAdviseUnsetAccessedBy:
        a->accessed_by = cudaInvalidDeviceId;
        break;
    default:
        error = cudaErrorInvalidValue;
    }
    return rt_leave(error);
}

static cudaError_t prefetch(const char *call, const void *pointer, size_t bytes,
                            const struct cudaMemLocation *location)
{
    struct rt_allocation *a = NULL;
    cudaError_t error = find(call, pointer, bytes, &a);
    if (error == cudaSuccess && location)
        a->prefetched = place_of(*location);
    return error;
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream)
{
    struct rt_stream *s = NULL;
    (void)flags;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && s->capture)
        error = capture_refuse(s, "cudaMemPrefetchAsync cannot be captured");
    if (error == cudaSuccess)
        error = prefetch("cudaMemPrefetchAsync", pointer, bytes, &location);
    return rt_leave(error);
}
RT_PTSZ(cudaMemPrefetchAsync,
        (const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags,
         cudaStream_t stream),
        (pointer, bytes, location, flags, rt_own(stream)))

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned flags)
{
    struct rt_stream *s = NULL;
    (void)flags;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = prefetch("cudaStreamAttachMemAsync", pointer, bytes ? bytes : 1, NULL);
    return rt_leave(error);
}
RT_PTSZ(cudaStreamAttachMemAsync,
        (cudaStream_t stream, void *pointer, size_t bytes, unsigned flags),
        (rt_own(stream), pointer, bytes, flags))

/* ---- many at once ---- */

/* `locations`: NULL, or as many as `indexes` say, the i-th from range indexes[i] on. */
static cudaError_t each(const char *call, void *const *pointers, const size_t *sizes, size_t count,
                        const struct cudaMemLocation *locations, const size_t *indexes,
                        size_t location_count, cudaStream_t stream)
{
    struct rt_stream *s = NULL;
    size_t l = 0;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && count > 0 && (!pointers || !sizes))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        while (locations && indexes && l + 1 < location_count && indexes[l + 1] <= i)
            l++;
        error = prefetch(call, pointers[i], sizes[i], locations ? &locations[l] : NULL);
    }
    return rt_leave(error);
}

cudaError_t cudaMemPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                      struct cudaMemLocation *locations, size_t *indexes,
                                      size_t location_count, unsigned long long flags,
                                      cudaStream_t stream)
{
    (void)flags;
    return each("cudaMemPrefetchBatchAsync", pointers, sizes, count, locations, indexes,
                location_count, stream);
}
RT_PTSZ(cudaMemPrefetchBatchAsync,
        (void **pointers, size_t *sizes, size_t count, struct cudaMemLocation *locations,
         size_t *indexes, size_t location_count, unsigned long long flags, cudaStream_t stream),
        (pointers, sizes, count, locations, indexes, location_count, flags, rt_own(stream)))

/* The contents may be lost: they need not. */
cudaError_t cudaMemDiscardBatchAsync(void **pointers, size_t *sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream)
{
    (void)flags;
    return each("cudaMemDiscardBatchAsync", pointers, sizes, count, NULL, NULL, 0, stream);
}
RT_PTSZ(cudaMemDiscardBatchAsync,
        (void **pointers, size_t *sizes, size_t count, unsigned long long flags,
         cudaStream_t stream),
        (pointers, sizes, count, flags, rt_own(stream)))

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                                struct cudaMemLocation *locations, size_t *indexes,
                                                size_t location_count, unsigned long long flags,
                                                cudaStream_t stream)
{
    (void)flags;
    return each("cudaMemDiscardAndPrefetchBatchAsync", pointers, sizes, count, locations, indexes,
                location_count, stream);
}
RT_PTSZ(cudaMemDiscardAndPrefetchBatchAsync,
        (void **pointers, size_t *sizes, size_t count, struct cudaMemLocation *locations,
         size_t *indexes, size_t location_count, unsigned long long flags, cudaStream_t stream),
        (pointers, sizes, count, locations, indexes, location_count, flags, rt_own(stream)))

/* ---- what was advised ---- */

static int type_of(int place)
{
    return place == cudaInvalidDeviceId ? cudaMemLocationTypeInvalid
           : place == cudaCpuDeviceId   ? cudaMemLocationTypeHost
                                        : cudaMemLocationTypeDevice;
}

static cudaError_t answer(const struct rt_allocation *a, enum cudaMemRangeAttribute attribute,
                          int *value)
{
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
        *value = a->read_mostly;
        break;
    case cudaMemRangeAttributePreferredLocation:
    case cudaMemRangeAttributePreferredLocationId:
        *value = a->preferred;
        break;
    case cudaMemRangeAttributeAccessedBy:
        *value = a->accessed_by;
        break;
    case cudaMemRangeAttributeLastPrefetchLocation:
    case cudaMemRangeAttributeLastPrefetchLocationId:
        *value = a->prefetched;
        break;
    case cudaMemRangeAttributePreferredLocationType:
        *value = type_of(a->preferred);
        break;
    case cudaMemRangeAttributeLastPrefetchLocationType:
        *value = type_of(a->prefetched);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* NOLINTBEGIN(readability-non-const-parameter): the signatures are CUDA's */
cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes,
                                      enum cudaMemRangeAttribute *attributes, size_t count,
                                      const void *pointer, size_t bytes)
{
    struct rt_allocation *a = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!data || !sizes || !attributes || count == 0))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = find("cudaMemRangeGetAttribute", pointer, bytes, &a);
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        int value = 0, none = cudaInvalidDeviceId;
        if (!data[i] || sizes[i] < sizeof value || sizes[i] % sizeof value)
            error = cudaErrorInvalidValue;
        if (error == cudaSuccess)
            error = answer(a, attributes[i], &value);
        for (size_t k = 0; error == cudaSuccess && k < sizes[i]; k += sizeof value)
            memcpy((char *)data[i] + k, k == 0 ? &value : &none, sizeof value);
    }
    return rt_leave(error);
}
/* NOLINTEND(readability-non-const-parameter) */

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, enum cudaMemRangeAttribute attribute,
                                     const void *pointer, size_t bytes)
{
    return cudaMemRangeGetAttributes(&data, &size, &attribute, 1, pointer, bytes);
}
