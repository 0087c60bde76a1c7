// Copies that go on by themselves, awaited as they must be.
// target: 80
#include "../faults.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

// case own_copy_awaited: clean
__global__ void own_copy_awaited(const int *in, int *out)
{
    __shared__ int buffer[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[t], in + t, sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = buffer[t]; // its own: no barrier
}
CASE(own_copy_awaited)
{
    int *out = fresh<int>(64);
    own_copy_awaited<<<1, 64>>>(input(64), out);
    expect(out, 64, [](size_t i) { return i % 3 + 1; });
}

// case two_buffers_in_turns: clean
__global__ void two_buffers_in_turns(const int *in, int *out, int n)
{
    __shared__ int buffer[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[0][t], in + t, sizeof(int));
    __pipeline_commit();
    for (int b = 0, k = 0; b < n; b += 64, k ^= 1) {
        if (b + 64 < n)
            __pipeline_memcpy_async(&buffer[k ^ 1][t], in + b + 64 + t, sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[b + t] = buffer[k][63 - t];
        __syncthreads();
    }
}
CASE(two_buffers_in_turns)
{
    int *out = fresh<int>(256);
    two_buffers_in_turns<<<1, 64>>>(made<int>(256, [](size_t i) { return i; }), out, 256);
    expect(out, 256, [](size_t i) { return i / 64 * 64 + 63 - i % 64; });
}

// case group_copy: clean
__global__ void group_copy(const int *in, int *out, int n)
{
    namespace cg = cooperative_groups;
    auto block = cg::this_thread_block();
    __shared__ int buffer[64];
    for (int b = 0; b < n; b += 64) {
        int count = min(64, n - b), t = threadIdx.x;
        cg::memcpy_async(block, buffer, in + b, sizeof(int) * count);
        cg::wait(block);
        if (t < count)
            out[b + t] = buffer[count - 1 - t];
        block.sync();
    }
}
CASE(group_copy)
{
    int *out = fresh<int>(150);
    group_copy<<<1, 64>>>(made<int>(150, [](size_t i) { return i; }), out, 150);
    expect(out, 150, [](size_t i) {
        size_t b = i / 64 * 64, count = b == 128 ? 22 : 64;
        return b + count - 1 - i % 64;
    });
}

// case copy_with_a_barrier_object: clean
__global__ void copy_with_a_barrier_object(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    auto block = cg::this_thread_block();
    __shared__ int buffer[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0)
        init(&bar, 128);
    block.sync();
    cuda::memcpy_async(block, buffer, in, sizeof buffer, bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = buffer[127 - threadIdx.x];
}
CASE(copy_with_a_barrier_object)
{
    int *out = fresh<int>(128);
    copy_with_a_barrier_object<<<1, 128>>>(input(128), out);
    expect(out, 128, [](size_t i) { return (127 - i) % 3 + 1; });
}

// case reductions_of_a_warp: clean
__global__ void reductions_of_a_warp(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    int sum = __reduce_add_sync(FULL, v);
    unsigned odd = __ballot_sync(FULL, v & 1);
    if (v & 1)
        sum += __reduce_max_sync(odd, v);
    out[t] = sum;
}
CASE(reductions_of_a_warp)
{
    int *out = fresh<int>(32);
    reductions_of_a_warp<<<1, 32>>>(input(32), out);
    expect(out, 32, [](size_t i) { return input_sum(32) + (i % 3 == 1 ? 0 : 3); });
}

// case zero_filled_tail: clean
__global__ void zero_filled_tail(const int *in, int *out, int n)
{
    __shared__ int4 buffer[32];
    int t = threadIdx.x, left = min(max(n - 4 * t, 0), 4);
    const int *from = left ? in + 4 * t : in;
    __pipeline_memcpy_async(&buffer[t], from, sizeof(int4), sizeof(int4) - 4 * left);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    int4 v = buffer[31 - t];
    out[t] = v.x + v.y + v.z + v.w;
}
CASE(zero_filled_tail)
{
    int *out = fresh<int>(32);
    zero_filled_tail<<<1, 32>>>(made<int>(100, [](size_t) { return 1; }), out, 100);
    expect(out, 32, [](size_t i) { return 31 - i < 25 ? 4 : 0; });
}
