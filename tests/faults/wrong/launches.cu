// Launches and calls that fail, and kernels that end themselves.
#include "../faults.cuh"

#include <cassert>

__global__ void store_index(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

// case empty_grid: cuda_error
// says: for n = 0 do not launch
// no line
CASE(empty_grid)
{
    int n = 0;
    store_index<<<(n + 255) / 256, 256>>>(fresh<int>(256));
}

// case thread_too_many: cuda_error
// no line
CASE(thread_too_many)
{
    store_index<<<1, 1025>>>(fresh<int>(1025));
}

// case no_threads: cuda_error
// no line
CASE(no_threads)
{
    store_index<<<1, 0>>>(fresh<int>(1));
}

// case grid_too_high: cuda_error
// no line
CASE(grid_too_high)
{
    store_index<<<dim3(1, 65536), 1>>>(fresh<int>(1));
}

// case block_too_deep: cuda_error
// no line
CASE(block_too_deep)
{
    store_index<<<1, dim3(1, 1, 65)>>>(fresh<int>(1));
}

// case shared_without_opt_in: cuda_error
// says: unless cudaFuncSetAttribute
// no line
__global__ void shared_without_opt_in(int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    out[threadIdx.x] = s[threadIdx.x];
}
CASE(shared_without_opt_in)
{
    shared_without_opt_in<<<1, 32, 60 * 1024>>>(fresh<int>(32));
}

// case shared_beyond_the_limit: cuda_error
// no line
CASE(shared_beyond_the_limit)
{
    cudaFuncSetAttribute(shared_without_opt_in, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         1 << 20);
    shared_without_opt_in<<<1, 32, 1 << 20>>>(fresh<int>(32));
}

// case beyond_the_launch_bounds: cuda_error
// no line
__global__ void __launch_bounds__(128) beyond_the_launch_bounds(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}
CASE(beyond_the_launch_bounds)
{
    beyond_the_launch_bounds<<<1, 256>>>(fresh<int>(256));
}

// case cooperative_too_large: cuda_error
// no line
CASE(cooperative_too_large)
{
    int *out = fresh<int>(1024);
    void *arguments[] = {&out};
    cudaLaunchCooperativeKernel(store_index, dim3(100000), dim3(1024), arguments, 0, nullptr);
}

// case copy_past_the_end: cuda_error
// no line
CASE(copy_past_the_end)
{
    int host[64];
    cudaMemcpy(host, zeros<int>(32), sizeof host, cudaMemcpyDeviceToHost);
}

// case clear_past_the_end: cuda_error
// no line
CASE(clear_past_the_end)
{
    cudaMemset(fresh<int>(32), 0, 32 * sizeof(int) + 1);
}

// case freed_twice: cuda_error
// no line
CASE(freed_twice)
{
    int *p = fresh<int>(32);
    cudaFree(p);
    cudaFree(p);
}

// case free_of_the_middle: cuda_error
// no line
CASE(free_of_the_middle)
{
    cudaFree(fresh<int>(32) + 4);
}

// case read_by_the_host: device_pointer_on_host
// no line
CASE(read_by_the_host)
{
    int *p = zeros<int>(32);
    std::printf("%d\n", p[3]);
}

// case written_by_the_host: device_pointer_on_host
// no line
CASE(written_by_the_host)
{
    double *p = zeros<double>(32);
    p[31] = 1.0;
}

// case assertion_fails: assertion
__global__ void assertion_fails(const int *in)
{
    assert(in[threadIdx.x] < 3); // <-- assertion
}
CASE(assertion_fails)
{
    assertion_fails<<<1, 32>>>(input(32));
}

// case traps: trap
__global__ void traps(const int *in)
{
    if (in[threadIdx.x] == 3)
        __trap(); // <-- trap
}
CASE(traps)
{
    traps<<<1, 32>>>(input(32));
}

// case recursion_without_end: stack_overflow
__device__ __noinline__ int depth(const int *in, int i)
{
    return in[i] == 0 ? 0 : in[depth(in, (i + 1) % 32) & 31]; // <-- stack_overflow
}
__global__ void recursion_without_end(const int *in, int *out)
{
    out[threadIdx.x] = depth(in, threadIdx.x);
}
CASE(recursion_without_end)
{
    recursion_without_end<<<1, 32>>>(input(32), fresh<int>(32));
}

// case call_through_null: trap
// gpu: any - an H200 never came to an end with it
__global__ void call_through_null(int (*const *table)(int), int *out)
{
    out[threadIdx.x] = table[0](threadIdx.x); // <-- trap
}
CASE(call_through_null)
{
    call_through_null<<<1, 32>>>(zeros<int (*)(int)>(1), fresh<int>(32));
}
