/* Questions about kernels: attributes, names, occupancy. The numbers that PTX does not hold
 * (registers) are a plain kernel's. */
#include "cpu/cudart/runtime.h"

#include <string.h>

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *function)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !attr)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_function(function, &f);
    if (error != cudaSuccess)
        return rt_leave(error);
    memset(attr, 0, sizeof *attr);
    attr->sharedSizeBytes = f->info.shared_bytes;
    attr->constSizeBytes = f->info.const_bytes;
    attr->localSizeBytes = f->info.local_bytes;
    attr->maxThreadsPerBlock = (int)f->info.max_threads;
    attr->numRegs = (int)f->info.regs;
    attr->ptxVersion = (int)f->info.ptx_version;
    attr->binaryVersion = (int)f->info.ptx_version;
    attr->maxDynamicSharedSizeBytes = (int)rt_max_dynamic_shared(f);
    attr->preferredShmemCarveout = f->carveout;
    return rt_leave(cudaSuccess);
}

static cudaError_t set_attribute(struct rt_function *f, enum cudaFuncAttribute attr, int value)
{
    long long most = (long long)rt.limits.shared_per_block_optin - f->info.shared_bytes;
    if (attr == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || value > most)
            return rt_refuse(cudaErrorInvalidValue,
                             "cudaFuncSetAttribute: %d bytes of dynamic shared memory for kernel "
                             "%s, which has %u bytes of static shared memory; the most is %lld",
                             value, f->info.people_name, f->info.shared_bytes, most);
        f->max_dynamic_shared = value;
    } else if (attr == cudaFuncAttributePreferredSharedMemoryCarveout) {
        if (value < -1 || value > 100)
            return cudaErrorInvalidValue;
        f->carveout = value;
    } else if (attr != cudaFuncAttributeNonPortableClusterSizeAllowed &&
               attr != cudaFuncAttributeClusterSchedulingPolicyPreference) {
        return rt_refuse(cudaErrorNotSupported,
                         "cudaFuncSetAttribute: the CPU device has no clusters (kernel %s)",
                         f->info.people_name);
    }
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attr, int value)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_function(function, &f);
    if (error == cudaSuccess)
        error = set_attribute(f, attr, value);
    return rt_leave(error);
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr,
                                            int value, int device)
{
    if (device != 0) {
        rt_lock();
        return rt_leave(cudaErrorInvalidDevice);
    }
    return cudaFuncSetAttribute(kernel, attr, value);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (unsigned)config > cudaFuncCachePreferEqual)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_function(function, &f);
    return rt_leave(error);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (unsigned)config > cudaSharedMemBankSizeEightByte)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_function(function, &f);
    return rt_leave(error);
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !name)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_function(function, &f);
    if (error == cudaSuccess)
        *name = f->name;
    return rt_leave(error);
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !offset)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_function(function, &f);
    if (error == cudaSuccess && index >= f->info.param_count)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return rt_leave(error);
    *offset = f->info.param_offsets[index];
    if (size)
        *size = f->info.param_sizes[index];
    return rt_leave(cudaSuccess);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !function)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_function(symbol, &f);
    if (error == cudaSuccess)
        *function = (cudaFunction_t)(void *)f;
    return rt_leave(error);
}

/* ---- occupancy ---- */

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int block_threads, size_t dynamic_shared, unsigned flags)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess &&
        (!blocks || block_threads <= 0 || flags > cudaOccupancyDisableCachingOverride))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_function(function, &f);
    if (error != cudaSuccess)
        return rt_leave(error);
    *blocks = 0;
    if ((unsigned)block_threads <= rt.limits.max_threads_per_block &&
        dynamic_shared <= rt_max_dynamic_shared(f))
        *blocks =
            (int)vm_kernel_occupancy(rt.vm, f->kernel, (uint32_t)block_threads, dynamic_shared);
    return rt_leave(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int block_threads, size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, function, block_threads, dynamic_shared, cudaOccupancyDefault);
}

/* The largest amount with which `blocks` blocks still fit, found by bisection. */
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_shared, const void *function,
                                                      int blocks, int block_threads)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && (!dynamic_shared || blocks <= 0 || block_threads <= 0))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_function(function, &f);
    if (error != cudaSuccess)
        return rt_leave(error);
    size_t low = 0, high = rt_max_dynamic_shared(f);
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (vm_kernel_occupancy(rt.vm, f->kernel, (uint32_t)block_threads, middle) >=
            (uint32_t)blocks)
            low = middle;
        else
            high = middle - 1;
    }
    *dynamic_shared = low;
    return rt_leave(cudaSuccess);
}
