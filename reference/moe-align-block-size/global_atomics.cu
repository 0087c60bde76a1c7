// MoE experts padded to blocks, rung 1: what one writes first. One global atomic per slot, twice.
//
// Contract: S = num_tokens * top_k >= 0 and all sizes fit into an int; 1 <= num_experts <= 2048; 1
// <= block_size <= 1024; arrays aligned to 4 bytes, not overlapping; slots with ids outside [0,
// num_experts) appear nowhere; padding is S, behind the total S and -1; everything is written also
// when there is no token. Slots of an expert in the order of arrival, padding behind them. All work
// goes on `stream`; workspace: 8 bytes per expert. Method: 1. counts = 0; padding everywhere.
//         2. count_slots: an atomic per slot.
//         3. scan_padded_counts: one block, 1024 experts at a time; it also says whose each block
//         is.
//         4. place_slots: an atomic per slot gives it the next place of its expert.
// Moves: 8 bytes in, 4 bytes out per slot; 4 bytes per place of padding.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;      // 8 warps: many blocks per SM
constexpr int kScanThreads = 1024; // one block scans the counts, this many at a time

__device__ __forceinline__ int thread_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
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

__global__ void fill(int *array, int count, int value)
{
    if (thread_index() < count)
        array[thread_index()] = value;
}

__global__ void count_slots(const int *topk_ids, int *counts, int slots, int num_experts)
{
    const int i = thread_index();
    if (i < slots && unsigned(topk_ids[i]) < unsigned(num_experts))
        atomicAdd(&counts[topk_ids[i]], 1); // partners: the same of all other slots
}

__global__ void __launch_bounds__(kScanThreads)
    scan_padded_counts(const int *counts, int *offsets, int *next, int *block_experts,
                       int num_experts, int block_size)
{
    __shared__ int warp_sums[kScanThreads / kLanes];
    const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    int carry = 0; // blocks so far, the same in every thread
    for (int first = 0; first < num_experts; first += kScanThreads) {
        const int expert = first + threadIdx.x;
        const int count = expert < num_experts ? counts[expert] : 0;
        const int blocks = (count + block_size - 1) / block_size;
        const int inclusive = warp_inclusive_sum(blocks);
        if (lane == kLanes - 1)
            warp_sums[warp] = inclusive;
        __syncthreads();
        if (warp == 0)
            warp_sums[lane] = warp_inclusive_sum(warp_sums[lane]);
        __syncthreads();
        const int before = carry + (warp > 0 ? warp_sums[warp - 1] : 0) + inclusive - blocks;
        if (expert < num_experts) {
            offsets[expert] = before * block_size;
            next[expert] = before * block_size;
        }
        for (int b = 0; b < blocks; b++)
            block_experts[before + b] = expert;
        carry += warp_sums[kScanThreads / kLanes - 1];
        __syncthreads(); // before the sums of the next experts
    }
    if (threadIdx.x == 0)
        offsets[num_experts] = carry * block_size;
}

__global__ void place_slots(const int *topk_ids, int *next, int *sorted_slots, int slots,
                            int num_experts)
{
    const int i = thread_index();
    if (i < slots && unsigned(topk_ids[i]) < unsigned(num_experts))
        sorted_slots[atomicAdd(&next[topk_ids[i]], 1)] = i; // partners: as above
}

static int blocks_for(int threads)
{
    return (threads - 1) / kThreads + 1;
}

extern "C" void moe_align_block_size(const int *topk_ids, int *offsets, int *sorted_slots,
                                     int *block_experts, int num_tokens, int top_k, int num_experts,
                                     int block_size, void *workspace, size_t workspace_bytes,
                                     cudaStream_t stream)
{
    (void)workspace_bytes;
    const int slots = num_tokens * top_k;
    const int places = slots + num_experts * (block_size - 1);
    const int blocks = (places + block_size - 1) / block_size;
    int *counts = static_cast<int *>(workspace), *next = counts + num_experts;

    cudaMemsetAsync(counts, 0, sizeof(int) * size_t(num_experts), stream);
    if (places > 0) {
        fill<<<blocks_for(places), kThreads, 0, stream>>>(sorted_slots, places, slots);
        cudaGetLastError();
        fill<<<blocks_for(blocks), kThreads, 0, stream>>>(block_experts, blocks, -1);
        cudaGetLastError();
    }
    if (slots > 0) {
        count_slots<<<blocks_for(slots), kThreads, 0, stream>>>(topk_ids, counts, slots,
                                                                num_experts);
        cudaGetLastError();
    }
    scan_padded_counts<<<1, kScanThreads, 0, stream>>>(counts, offsets, next, block_experts,
                                                       num_experts, block_size);
    cudaGetLastError();
    if (slots > 0) {
        place_slots<<<blocks_for(slots), kThreads, 0, stream>>>(topk_ids, next, sorted_slots, slots,
                                                                num_experts);
        cudaGetLastError();
    }
}
