/* Variables by their host address: where they are on the device, and copies to and from them. */
#include "cpu/cudart/queue.h"

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    uint64_t address = 0;
    size_t bytes;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_variable(symbol, &address, &bytes);
    if (error == cudaSuccess)
        *out = (void *)(uintptr_t)address;
    return rt_leave(error);
}

cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol)
{
    uint64_t address;
    size_t bytes = 0;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_variable(symbol, &address, &bytes);
    if (error == cudaSuccess)
        *out = bytes;
    return rt_leave(error);
}

/* The device address of [offset, offset + bytes) of a variable. */
static cudaError_t range_of(const char *call, const void *symbol, size_t offset, size_t bytes,
                            void **out)
{
    uint64_t address = 0;
    size_t size = 0;
    cudaError_t error = rt_find_variable(symbol, &address, &size);
    if (error != cudaSuccess)
        return error;
    if (offset > size || bytes > size - offset)
        return rt_refuse(cudaErrorInvalidValue,
                         "%s: %zu bytes from byte %zu of a variable that has %zu", call, bytes,
                         offset, size);
    *out = (void *)(uintptr_t)(address + offset);
    return cudaSuccess;
}

static cudaError_t to_symbol(const char *call, const void *symbol, const void *from, size_t bytes,
                             size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                             bool wait)
{
    void *to = NULL;
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && kind != cudaMemcpyHostToDevice &&
        kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        error = cudaErrorInvalidMemcpyDirection;
    if (error == cudaSuccess)
        error = range_of(call, symbol, offset, bytes, &to);
    if (error == cudaSuccess)
        error = rt_copy(call, to, from, bytes, kind, s, wait);
    return rt_leave(error);
}

static cudaError_t from_symbol(const char *call, void *to, const void *symbol, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                               bool wait)
{
    void *from = NULL;
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess && kind != cudaMemcpyDeviceToHost &&
        kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        error = cudaErrorInvalidMemcpyDirection;
    if (error == cudaSuccess)
        error = range_of(call, symbol, offset, bytes, &from);
    if (error == cudaSuccess)
        error = rt_copy(call, to, from, bytes, kind, s, wait);
    return rt_leave(error);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind, NULL, true);
}
RT_PER_THREAD(cudaMemcpyToSymbol_ptds,
              (const void *symbol, const void *from, size_t bytes, size_t offset,
               enum cudaMemcpyKind kind),
              to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind,
                        cudaStreamPerThread, true))

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind, stream, false);
}
RT_PTSZ(cudaMemcpyToSymbolAsync,
        (const void *symbol, const void *from, size_t bytes, size_t offset,
         enum cudaMemcpyKind kind, cudaStream_t stream),
        (symbol, from, bytes, offset, kind, rt_own(stream)))

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind, NULL, true);
}
RT_PER_THREAD(cudaMemcpyFromSymbol_ptds,
              (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
              from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind,
                          cudaStreamPerThread, true))

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind, stream, false);
}
RT_PTSZ(cudaMemcpyFromSymbolAsync,
        (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
         cudaStream_t stream),
        (to, symbol, bytes, offset, kind, rt_own(stream)))
