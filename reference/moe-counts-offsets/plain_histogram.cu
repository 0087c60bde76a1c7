// MoE counts and offsets, rung 1: what one writes first. A histogram in shared memory, then a scan.
//
// Contract: num_tokens >= 0, top_k >= 0, their product fits in int64; 1 <= num_experts <= 4096; all
// arrays are aligned to 4 bytes and do not overlap; ids outside [0, num_experts) are not counted;
// counts[e] = how many ids are e, offsets[e] = counts[0] + ... + counts[e - 1]; both are written
// also when there is no token. The same bits on every run. All work goes on `stream`; no workspace;
// calls on different streams may overlap.
// Method: 1. counts = 0.
//         2. count_ids: one block per SM counts its share of the ids in shared memory, then adds
//            what it has counted to counts.
//         3. scan_counts: one block turns counts into offsets, 1024 experts at a time.
// Moves: 4 bytes in per id, 8 bytes out per expert.
// Measured on an H200 with a cold L2: 2^24 ids in 0.0665 ms with 8 experts, 0.0683 with 1024. A
//         thread has one load of 4 bytes under way, and an SM half of the threads that it has room
//         for: it mostly waits. Rung 2 does the same with more and smaller blocks.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 1024; // the widest block

__global__ void __launch_bounds__(kThreads)
    count_ids(const int *topk_ids, int *counts, long long id_count, int num_experts)
{
    extern __shared__ int block_counts[]; // one per expert
    for (int expert = threadIdx.x; expert < num_experts; expert += kThreads)
        block_counts[expert] = 0;
    __syncthreads();

    // Partners: the same atomicAdd in the other threads of the block.
    for (long long i = (long long)blockIdx.x * kThreads + threadIdx.x; i < id_count;
         i += (long long)gridDim.x * kThreads) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            atomicAdd(&block_counts[expert], 1);
    }
    __syncthreads();

    // Partners: the same atomicAdd in the other blocks.
    for (int expert = threadIdx.x; expert < num_experts; expert += kThreads)
        atomicAdd(&counts[expert], block_counts[expert]);
}

// The sum of the lanes up to this one.
__device__ int warp_inclusive_sum(int value)
{
    const int lane = threadIdx.x % kLanes;
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const int before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane >= distance)
            value = before + value;
    }
    return value;
}

__global__ void __launch_bounds__(kThreads)
    scan_counts(const int *counts, int *offsets, int num_experts)
{
    __shared__ int warp_sums[kThreads / kLanes];
    const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    int carry = 0; // the same in every thread
    for (int first = 0; first < num_experts; first += kThreads) {
        const int expert = first + threadIdx.x;
        const int count = expert < num_experts ? counts[expert] : 0;
        const int inclusive = warp_inclusive_sum(count);
        if (lane == kLanes - 1)
            warp_sums[warp] = inclusive;
        __syncthreads();
        if (warp == 0)
            warp_sums[lane] = warp_inclusive_sum(warp_sums[lane]);
        __syncthreads();
        if (expert < num_experts)
            offsets[expert] = carry + (warp > 0 ? warp_sums[warp - 1] : 0) + inclusive - count;
        carry += warp_sums[kThreads / kLanes - 1];
        __syncthreads(); // before the sums of the next experts
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    int device = 0, sm_count = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device);
    cudaMemsetAsync(counts, 0, sizeof(int) * size_t(num_experts), stream);
    count_ids<<<sm_count, kThreads, sizeof(int) * size_t(num_experts), stream>>>(
        topk_ids, counts, (long long)num_tokens * top_k, num_experts);
    cudaGetLastError();
    scan_counts<<<1, kThreads, 0, stream>>>(counts, offsets, num_experts);
    cudaGetLastError();
}
