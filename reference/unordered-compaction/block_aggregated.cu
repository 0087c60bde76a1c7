// Compaction in any order, rung 2: one atomic operation per block.
//
// Contract: 0 <= n < 2^31; `in` and `out` aligned to 4 bytes, not overlapping; keeps in[i] > 0, so
// NaN and -0.0 go and +infinity and positive subnormals stay; writes *count also for n = 0; leaves
// out[*count .. n) as it was. All work goes on `stream`. The order differs from run to run.
// Method: warps count by ballot, row by row; the counts of the warps meet in shared memory; thread
//         0 asks for the places of the whole block; each warp fills its part in order.
// Moves: 4 bytes in, 4 bytes out per kept item; 1 atomic per 2048 items.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 8;                // loads in flight per thread
constexpr int kTile = kThreads * kRows; // items of one block

__global__ void __launch_bounds__(kThreads) compact(const float *in, float *out, int *count, int n)
{
    __shared__ int warp_kept[kWarps];
    __shared__ int first_of_block;
    const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;

    // Load: warp w owns kRows rows of 32 consecutive items. Unsigned: the last tile may pass 2^31.
    const unsigned first = blockIdx.x * unsigned{kTile} + warp * (kRows * kLanes) + lane;
    float values[kRows];
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = first + row * kLanes;
        values[row] = i < unsigned(n) ? in[i] : 0.0f; // 0 is not kept
    }

    // Count.
    int kept = 0;
#pragma unroll
    for (int row = 0; row < kRows; row++)
        kept += __popc(__ballot_sync(kAllLanes, values[row] > 0.0f));
    if (lane == 0)
        warp_kept[warp] = kept;
    __syncthreads();

    // Ask for the places of the block. Partner: the same atomicAdd in every other block.
    int before_warp = 0;
    int block_kept = 0;
#pragma unroll
    for (int w = 0; w < kWarps; w++) {
        before_warp += w < warp ? warp_kept[w] : 0;
        block_kept += warp_kept[w];
    }
    if (threadIdx.x == 0 && block_kept)
        first_of_block = atomicAdd(count, block_kept);
    __syncthreads();
    if (block_kept == 0)
        return;

    // Scatter.
    int place = first_of_block + before_warp;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned votes = __ballot_sync(kAllLanes, values[row] > 0.0f);
        if (values[row] > 0.0f)
            out[place + __popc(votes & ((1u << lane) - 1))] = values[row];
        place += __popc(votes);
    }
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n == 0)
        return;
    compact<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, count, n);
    cudaGetLastError();
}
