// Copies that go on by themselves, and are read too early.
// target: 80
#include "../faults.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>

// case copy_never_awaited: uninitialized_read
// also: data_race
__global__ void copy_never_awaited(const int *in, int *out)
{
    __shared__ int buffer[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[t], in + t, sizeof(int));
    __pipeline_commit();
    out[t] = buffer[t]; // <-- uninitialized_read
}
CASE(copy_never_awaited)
{
    copy_never_awaited<<<1, 64>>>(input(64), fresh<int>(64));
}

// The newest copy is the one that is read.
// case one_copy_too_few_awaited: uninitialized_read
// also: data_race
__global__ void one_copy_too_few_awaited(const int *in, int *out)
{
    __shared__ int buffer[2][64];
    int t = threadIdx.x;
    for (int k = 0; k < 2; ++k) {
        __pipeline_memcpy_async(&buffer[k][t], in + 64 * k + t, sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = buffer[0][t] + buffer[1][t]; // <-- uninitialized_read
}
CASE(one_copy_too_few_awaited)
{
    one_copy_too_few_awaited<<<1, 64>>>(input(128), fresh<int>(64));
}

// Each thread waits for its own copies only.
// case copy_of_another_thread: data_race
// also: uninitialized_read
__global__ void copy_of_another_thread(const int *in, int *out)
{
    __shared__ int buffer[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[t], in + t, sizeof(int)); // <-- data_race
    __pipeline_commit();
    __pipeline_wait_prior(0); // <-- data_race
    out[t] = buffer[t ^ 32];
}
CASE(copy_of_another_thread)
{
    copy_of_another_thread<<<1, 64>>>(input(64), fresh<int>(64));
}

// The buffer is filled again while others still read it.
// case buffer_filled_again: data_race
__global__ void buffer_filled_again(const int *in, int *out, int n)
{
    __shared__ int buffer[64];
    int t = threadIdx.x;
    for (int b = 0; b < n; b += 64) {
        __pipeline_memcpy_async(&buffer[t], in + b + t, sizeof(int)); // <-- data_race
        __pipeline_commit();
        __pipeline_wait_prior(0); // <-- data_race
        __syncthreads();
        out[b + t] = buffer[63 - t];
    }
}
CASE(buffer_filled_again)
{
    buffer_filled_again<<<1, 64>>>(input(192), fresh<int>(192), 192);
}

// case group_copy_never_awaited: uninitialized_read
// also: data_race
__global__ void group_copy_never_awaited(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    auto block = cg::this_thread_block();
    __shared__ int buffer[64];
    cg::memcpy_async(block, buffer, in, sizeof buffer);
    out[threadIdx.x] = buffer[63 - threadIdx.x]; // <-- uninitialized_read
}
CASE(group_copy_never_awaited)
{
    group_copy_never_awaited<<<1, 64>>>(input(64), fresh<int>(64));
}

// case copy_out_of_bounds: out_of_bounds_read
__global__ void copy_out_of_bounds(const int *in, int *out)
{
    __shared__ int4 buffer[32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[t], in + 4 * t, sizeof(int4)); // <-- out_of_bounds_read
    __pipeline_commit();
    __pipeline_wait_prior(0); // <-- out_of_bounds_read
    __syncthreads();
    out[t] = buffer[31 - t].x;
}
CASE(copy_out_of_bounds)
{
    copy_out_of_bounds<<<1, 32>>>(input(125), fresh<int>(32));
}

// case copy_misaligned: misaligned
__global__ void copy_misaligned(const int *in, int *out)
{
    __shared__ int4 buffer[32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[t], in + 4 * t + 1, sizeof(int4)); // <-- misaligned
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = buffer[31 - t].x;
}
CASE(copy_misaligned)
{
    copy_misaligned<<<1, 32>>>(input(160), fresh<int>(32));
}

// case reduction_without_the_lane: warp_sync
__global__ void reduction_without_the_lane(const int *in, int *out)
{
    out[threadIdx.x] = __reduce_add_sync(0x0000ffff, in[threadIdx.x]); // <-- warp_sync
}
CASE(reduction_without_the_lane)
{
    reduction_without_the_lane<<<1, 32>>>(input(32), fresh<int>(32));
}
