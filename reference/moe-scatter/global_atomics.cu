// expect: cost_limit_exceeded
// MoE scatter, rung 1: what one writes first. Two global atomics per slot: more than the problem
// allows.
//
// Contract: S = num_tokens * top_k >= 0 fits into an int; 1 <= num_experts <= 2048; arrays aligned
// to 4 bytes, not overlapping; slots with ids outside [0, num_experts) appear nowhere; behind the
// last slot -1; everything is written also when there is no token. Slots of an expert in the order
// of arrival. All work goes on `stream`; workspace: 8 bytes per expert. Method: 1. counts = 0;
// slots = -1.
//         2. count_slots: an atomic per slot.
//         3. scan_counts: one block, 1024 experts at a time.
//         4. place_slots: an atomic per slot gives it the next place of its expert.
// Moves: 8 bytes in, 8 bytes out per slot.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;      // 8 warps: many blocks per SM
constexpr int kScanThreads = 1024; // one block scans the counts, this many at a time

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

__global__ void count_slots(const int *topk_ids, int *counts, int slot_count, int num_experts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slot_count && unsigned(topk_ids[i]) < unsigned(num_experts))
        atomicAdd(&counts[topk_ids[i]], 1); // partners: the same of all other slots
}

__global__ void __launch_bounds__(kScanThreads)
    scan_counts(const int *counts, int *offsets, int *next, int num_experts)
{
    __shared__ int warp_sums[kScanThreads / kLanes];
    const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    int carry = 0; // the same in every thread
    for (int first = 0; first < num_experts; first += kScanThreads) {
        const int expert = first + threadIdx.x;
        const int count = expert < num_experts ? counts[expert] : 0;
        const int inclusive = warp_inclusive_sum(count);
        if (lane == kLanes - 1)
            warp_sums[warp] = inclusive;
        __syncthreads();
        if (warp == 0)
            warp_sums[lane] = warp_inclusive_sum(warp_sums[lane]);
        __syncthreads();
        const int before = carry + (warp > 0 ? warp_sums[warp - 1] : 0) + inclusive - count;
        if (expert < num_experts)
            offsets[expert] = next[expert] = before;
        carry += warp_sums[kScanThreads / kLanes - 1];
        __syncthreads(); // before the sums of the next experts
    }
    if (threadIdx.x == 0)
        offsets[num_experts] = carry;
}

__global__ void place_slots(const int *topk_ids, int *next, int *slots, int slot_count,
                            int num_experts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slot_count && unsigned(topk_ids[i]) < unsigned(num_experts))
        slots[atomicAdd(&next[topk_ids[i]], 1)] = i; // partners: as above
}

extern "C" void moe_scatter(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                            int top_k, int num_experts, void *workspace, size_t workspace_bytes,
                            cudaStream_t stream)
{
    (void)workspace_bytes;
    const int slot_count = num_tokens * top_k;
    int *counts = static_cast<int *>(workspace), *next = counts + num_experts;
    const int blocks = slot_count > 0 ? (slot_count - 1) / kThreads + 1 : 0;

    cudaMemsetAsync(counts, 0, sizeof(int) * size_t(num_experts), stream);
    if (blocks > 0) {
        cudaMemsetAsync(slots, 0xff, sizeof(int) * size_t(slot_count), stream); // -1
        count_slots<<<blocks, kThreads, 0, stream>>>(topk_ids, counts, slot_count, num_experts);
        cudaGetLastError();
    }
    scan_counts<<<1, kScanThreads, 0, stream>>>(counts, offsets, next, num_experts);
    cudaGetLastError();
    if (blocks > 0) {
        place_slots<<<blocks, kThreads, 0, stream>>>(topk_ids, next, slots, slot_count,
                                                     num_experts);
        cudaGetLastError();
    }
}
