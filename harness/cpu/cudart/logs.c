/* The log of the runtime: there is none. What goes wrong becomes findings instead. */
#include "cpu/cudart/runtime.h"

#include <stdio.h>

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t function, void *data,
                                     cudaLogsCallbackHandle *handle)
{
    (void)data; /* nobody will call it */
    rt_lock();
    if (function && handle)
        *handle = NULL;
    return rt_leave(function ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle)
{
    (void)handle;
    return cudaSuccess;
}

cudaError_t cudaLogsCurrent(cudaLogIterator *out, unsigned flags)
{
    rt_lock();
    if (!out || flags != 0)
        return rt_leave(cudaErrorInvalidValue);
    *out = 0;
    return rt_leave(cudaSuccess);
}

/* NOLINTBEGIN(readability-non-const-parameter): the signatures are CUDA's */
cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *path, unsigned flags)
{
    (void)iterator;
    rt_lock();
    if (!path || flags != 0)
        return rt_leave(cudaErrorInvalidValue);
    FILE *file = fopen(path, "a");
    return rt_leave(file && fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem);
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size,
                                 unsigned flags)
{
    (void)iterator;
    rt_lock();
    if (!buffer || !size || *size == 0 || flags != 0)
        return rt_leave(cudaErrorInvalidValue);
    buffer[0] = '\0';
    *size = 0;
    return rt_leave(cudaSuccess);
}
/* NOLINTEND(readability-non-const-parameter) */
