/* Launching: the configuration that <<<>>> pushes and the host stub pops, the checks that CUDA
 * makes before it queues anything. A launch that is refused leaves the outputs as
 * they were and, unless the program asks, nobody hears of it; so each refusal is also a finding
 * that names the kernel and the numbers. */
#include "cpu/cudart/queue.h"
#include "cpu/cudart/register.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTED_MOST = 16 }; /* f<<<g<<<...>>>()>>>: more than two never happens */

static _Thread_local struct {
    dim3 grid, block;
    size_t dynamic_shared;
    cudaStream_t stream;
} pushed[NESTED_MOST];
static _Thread_local unsigned pushed_count;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared,
                                     struct CUstream_st *stream)
{
    if (pushed_count == NESTED_MOST)
        return 1;
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].dynamic_shared = dynamic_shared;
    pushed[pushed_count].stream = stream;
    pushed_count++;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_shared,
                                       void *stream)
{
    if (pushed_count == 0) {
        rt_lock();
        return rt_leave(cudaErrorMissingConfiguration);
    }
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *dynamic_shared = pushed[pushed_count].dynamic_shared;
    *(cudaStream_t *)stream = pushed[pushed_count].stream;
    return cudaSuccess;
}

/* ---- checks ---- */

__attribute__((format(printf, 3, 4))) static cudaError_t
refuse(const struct rt_function *f, cudaError_t error, const char *format, ...)
{
    char why[320];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    rt_report(FINDING_cuda_error, WIRE_WARNING, f->info.people_name,
              "the launch of kernel %s was refused (%s): %s", f->info.people_name,
              cudaGetErrorName(error), why);
    return error;
}

size_t rt_max_dynamic_shared(const struct rt_function *f)
{
    if (f->max_dynamic_shared >= 0)
        return (size_t)f->max_dynamic_shared;
    return f->info.shared_bytes < rt.limits.shared_per_block
               ? rt.limits.shared_per_block - f->info.shared_bytes
               : 0;
}

static cudaError_t check_grid(const struct rt_function *f, dim3 grid)
{
    const unsigned size[3] = {grid.x, grid.y, grid.z};
    for (int i = 0; i < 3; i++) {
        if (size[i] == 0)
            return refuse(f, cudaErrorInvalidValue, "a grid of %u x %u x %u blocks is empty%s",
                          grid.x, grid.y, grid.z, grid.x == 0 ? "; for n = 0 do not launch" : "");
        if (size[i] > rt.limits.max_grid[i])
            return refuse(f, cudaErrorInvalidValue, "%u blocks in direction %c, the most is %llu",
                          size[i], "xyz"[i], (unsigned long long)rt.limits.max_grid[i]);
    }
    return cudaSuccess;
}

static cudaError_t check_block(const struct rt_function *f, dim3 block)
{
    const unsigned size[3] = {block.x, block.y, block.z};
    /* Exact where it matters; three 32-bit numbers multiplied can overflow 64 bits. */
    double threads = (double)block.x * block.y * block.z;
    if (threads == 0)
        return refuse(f, cudaErrorInvalidValue, "a block of %u x %u x %u threads is empty", block.x,
                      block.y, block.z);
    if (threads > rt.limits.max_threads_per_block)
        return refuse(f, cudaErrorInvalidValue, "%.0f threads per block, the most is %u", threads,
                      rt.limits.max_threads_per_block);
    for (int i = 0; i < 3; i++)
        if (size[i] > rt.limits.max_block[i])
            return refuse(f, cudaErrorInvalidValue,
                          "%u threads per block in direction %c, the most is %u", size[i], "xyz"[i],
                          rt.limits.max_block[i]);
    if (threads > f->info.max_threads)
        return refuse(f, cudaErrorInvalidValue,
                      "%.0f threads per block, its __launch_bounds__ allow %u", threads,
                      f->info.max_threads);
    return cudaSuccess;
}

static cudaError_t check_shared(const struct rt_function *f, size_t dynamic)
{
    size_t most = rt_max_dynamic_shared(f);
    if (f->info.shared_bytes > rt.limits.shared_per_block)
        return refuse(f, cudaErrorInvalidValue, "%u bytes of static shared memory, the most is %u",
                      f->info.shared_bytes, rt.limits.shared_per_block);
    if (dynamic <= most)
        return cudaSuccess;
    if (f->max_dynamic_shared >= 0)
        return refuse(f, cudaErrorInvalidValue,
                      "%zu bytes of dynamic shared memory, cudaFuncSetAttribute allowed %zu",
                      dynamic, most);
    return refuse(f, cudaErrorInvalidValue,
                  "%zu bytes of dynamic shared memory (and %u static), the most is %zu unless "
                  "cudaFuncSetAttribute(MaxDynamicSharedMemorySize) allows more",
                  dynamic, f->info.shared_bytes, most);
}

static cudaError_t check_cooperative(const struct rt_function *f, const struct rt_launch *launch)
{
    unsigned threads = launch->block.x * launch->block.y * launch->block.z;
    uint64_t most = (uint64_t)rt.limits.sm_count *
                    vm_kernel_occupancy(rt.vm, f->kernel, threads, launch->dynamic_shared);
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    if (blocks > most)
        return refuse(f, cudaErrorCooperativeLaunchTooLarge,
                      "a cooperative launch of %llu blocks, the most that are resident at once is "
                      "%llu",
                      (unsigned long long)blocks, (unsigned long long)most);
    return cudaSuccess;
}

/* ---- the work ---- */

/* Lays the arguments out as the kernel's parameter block; NULL when the program passed none. */
static unsigned char *pack(const struct rt_function *f, void **args)
{
    const struct vm_kernel_info *info = &f->info;
    if (info->param_count > 0 && !args)
        return NULL;
    unsigned char *block = calloc(1, info->param_bytes + 1);
    if (!block)
        BUG("out of memory for %u bytes of kernel parameters", info->param_bytes);
    for (uint32_t i = 0; i < info->param_count; i++)
        memcpy(block + info->param_offsets[i], args[i], info->param_sizes[i]);
    return block;
}

cudaError_t work_make_kernel(struct rt_work *work, const char *call, const void *function,
                             const struct rt_launch *launch, void **args)
{
    struct rt_function *f = NULL;
    cudaError_t error = rt_find_function(function, &f);
    if (error == cudaSuccess)
        error = check_grid(f, launch->grid);
    if (error == cudaSuccess)
        error = check_block(f, launch->block);
    if (error == cudaSuccess)
        error = check_shared(f, launch->dynamic_shared);
    if (error == cudaSuccess && launch->cooperative)
        error = check_cooperative(f, launch);
    if (error != cudaSuccess)
        return error;
    unsigned char *params = pack(f, args);
    if (!params)
        return refuse(f, cudaErrorInvalidValue, "it takes %u arguments and got none",
                      f->info.param_count);
    *work = (struct rt_work){.kind = WORK_KERNEL, .call = call};
    work->kernel.function = f;
    work->kernel.shape = *launch;
    work->kernel.params = params;
    return cudaSuccess;
}

static cudaError_t launch(const char *call, const void *function, const struct rt_launch *shape,
                          void **args, cudaStream_t stream)
{
    struct rt_work work;
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = work_make_kernel(&work, call, function, shape, args);
    if (error == cudaSuccess)
        error = queue_submit(s, &work);
    return rt_leave(error);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    rt_lock();
    *kernel = map_get(&rt.functions, host);
    return rt_leave(*kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    return kernel ? __cudaGetKernel(kernel, host) : cudaErrorInvalidValue;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t dynamic_shared, cudaStream_t stream)
{
    struct rt_launch shape = {grid, block, dynamic_shared, false};
    return launch("cudaLaunchKernel", kernel, &shape, args, stream);
}
RT_PTSZ(__cudaLaunchKernel,
        (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t dynamic_shared,
         cudaStream_t stream),
        (kernel, grid, block, args, dynamic_shared, rt_own(stream)))

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
                             size_t dynamic_shared, cudaStream_t stream)
{
    struct rt_launch shape = {grid, block, dynamic_shared, false};
    return launch("cudaLaunchKernel", function, &shape, args, stream);
}
RT_PTSZ(cudaLaunchKernel,
        (const void *function, dim3 grid, dim3 block, void **args, size_t dynamic_shared,
         cudaStream_t stream),
        (function, grid, block, args, dynamic_shared, rt_own(stream)))

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                        size_t dynamic_shared, cudaStream_t stream)
{
    struct rt_launch shape = {grid, block, dynamic_shared, true};
    return launch("cudaLaunchCooperativeKernel", function, &shape, args, stream);
}
RT_PTSZ(cudaLaunchCooperativeKernel,
        (const void *function, dim3 grid, dim3 block, void **args, size_t dynamic_shared,
         cudaStream_t stream),
        (function, grid, block, args, dynamic_shared, rt_own(stream)))

/* Attributes that only shape overlap or priority mean nothing to a device that runs one kernel at a
 * time; a cluster of more than one block it does not have. */
static cudaError_t read_attributes(const cudaLaunchConfig_t *config, struct rt_launch *shape)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeCooperative)
            shape->cooperative = a->val.cooperative != 0;
        if (a->id == cudaLaunchAttributeClusterDimension &&
            (a->val.clusterDim.x > 1 || a->val.clusterDim.y > 1 || a->val.clusterDim.z > 1))
            return rt_refuse(cudaErrorInvalidClusterSize,
                             "a cluster of %u x %u x %u blocks; the CPU device has no clusters",
                             a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z);
    }
    return cudaSuccess;
}

static cudaError_t launch_with(const cudaLaunchConfig_t *config, const void *function, void **args,
                               cudaStream_t stream)
{
    struct rt_launch shape = {.cooperative = false};
    struct rt_work work;
    struct rt_stream *s = NULL;
    cudaError_t error = rt_enter();
    if (error == cudaSuccess && !config)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = rt_find_stream(stream, &s);
    if (error == cudaSuccess)
        error = read_attributes(config, &shape);
    if (error == cudaSuccess) {
        shape.grid = config->gridDim;
        shape.block = config->blockDim;
        shape.dynamic_shared = config->dynamicSmemBytes;
        error = work_make_kernel(&work, "cudaLaunchKernelExC", function, &shape, args);
    }
    if (error == cudaSuccess)
        error = queue_submit(s, &work);
    return rt_leave(error);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    return launch_with(config, function, args, config ? config->stream : NULL);
}
RT_PER_THREAD(cudaLaunchKernelExC_ptsz,
              (const cudaLaunchConfig_t *config, const void *function, void **args),
              launch_with(config, function, args, config ? rt_own(config->stream) : NULL))
