// Compaction in any order, rung 1: one atomic operation per warp.
//
// Contract: 0 <= n < 2^31; `in` and `out` aligned to 4 bytes, not overlapping; keeps in[i] > 0, so
// NaN and -0.0 go and +infinity and positive subnormals stay; writes *count also for n = 0; leaves
// out[*count .. n) as it was. All work goes on `stream`. The order differs from run to run.
// Method: the lanes of a warp vote; lane 0 asks for as many places as there are votes and tells
//         the others where they begin; a lane's place is that + the votes of the lanes below it.
// Moves: 4 bytes in, 4 bytes out per kept item; 1 atomic per 32 items.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // any multiple of a warp will do: warps do not meet

__global__ void __launch_bounds__(kThreads) compact(const float *in, float *out, int *count, int n)
{
    const int lane = threadIdx.x % kLanes;
    // Unsigned: the last block may reach past 2^31.
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    const float value = i < unsigned(n) ? in[i] : 0.0f; // 0 is not kept, but the lane votes

    const unsigned votes = __ballot_sync(kAllLanes, value > 0.0f);
    int first = 0;
    if (lane == 0 && votes)
        first = atomicAdd(count, __popc(votes)); // partner: the same in every other warp
    first = __shfl_sync(kAllLanes, first, 0);
    if (value > 0.0f)
        out[first + __popc(votes & ((1u << lane) - 1))] = value;
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n == 0)
        return;
    compact<<<(n - 1) / kThreads + 1, kThreads, 0, stream>>>(in, out, count, n);
    cudaGetLastError();
}
