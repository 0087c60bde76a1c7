// expect: wrong_answer
// expect-diagnosis: different on every schedule
// A right answer to moe-scatter: atomics hand out the places, in the order in which threads come.

#include <cuda_runtime.h>

constexpr int kSlotsPerBlock = 2048;

// What a block finds among its own slots, per expert. Every thread of the block calls it.
__device__ void count_own(const int *topk_ids, int *own, int first, int end, int num_experts)
{
    for (int e = threadIdx.x; e < num_experts; e += blockDim.x)
        own[e] = 0;
    __syncthreads();
    for (int i = first + threadIdx.x; i < end; i += blockDim.x)
        if (topk_ids[i] >= 0 && topk_ids[i] < num_experts)
            atomicAdd(&own[topk_ids[i]], 1);
    __syncthreads();
}

__global__ void count_slots(const int *topk_ids, int *counts, int slot_count, int num_experts)
{
    extern __shared__ int own[];
    const int first = blockIdx.x * kSlotsPerBlock;
    const int end = min(slot_count, first + kSlotsPerBlock);
    count_own(topk_ids, own, first, end, num_experts);
    for (int e = threadIdx.x; e < num_experts; e += blockDim.x)
        if (own[e] > 0)
            atomicAdd(&counts[e], own[e]);
}

// Each of the 1024 threads takes some experts in a row.
__global__ void scan_counts(const int *counts, int *offsets, int *next, int num_experts)
{
    __shared__ int sums[1024];
    const int t = threadIdx.x, share = (num_experts + 1023) / 1024;
    int own = 0;
    for (int e = t * share; e < (t + 1) * share && e < num_experts; e++)
        own += counts[e];
    sums[t] = own;
    __syncthreads();
    for (int distance = 1; distance < 1024; distance *= 2) {
        const int before = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    int place = sums[t] - own;
    for (int e = t * share; e < (t + 1) * share && e < num_experts; e++) {
        offsets[e] = next[e] = place;
        place += counts[e];
    }
    if (t == 1023)
        offsets[num_experts] = sums[t];
}

__global__ void place_slots(const int *topk_ids, int *next, int *slots, int slot_count,
                            int num_experts)
{
    extern __shared__ int own[];
    const int first = blockIdx.x * kSlotsPerBlock;
    const int end = min(slot_count, first + kSlotsPerBlock);
    count_own(topk_ids, own, first, end, num_experts);
    for (int e = threadIdx.x; e < num_experts; e += blockDim.x)
        if (own[e] > 0)
            own[e] = atomicAdd(&next[e], own[e]);
    __syncthreads();
    for (int i = first + threadIdx.x; i < end; i += blockDim.x)
        if (topk_ids[i] >= 0 && topk_ids[i] < num_experts)
            slots[atomicAdd(&own[topk_ids[i]], 1)] = i;
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    const int slot_count = num_tokens * top_k;
    int *counts = static_cast<int *>(workspace), *next = counts + num_experts;
    cudaMemsetAsync(counts, 0, sizeof(int) * num_experts, stream);
    cudaMemsetAsync(slots, 0xff, sizeof(int) * slot_count, stream);
    const int blocks = slot_count > 0 ? (slot_count - 1) / kSlotsPerBlock + 1 : 0;
    if (blocks > 0)
        count_slots<<<blocks, 256, sizeof(int) * num_experts, stream>>>(topk_ids, counts,
                                                                        slot_count, num_experts);
    scan_counts<<<1, 1024, 0, stream>>>(counts, offsets, next, num_experts);
    if (blocks > 0)
        place_slots<<<blocks, 256, sizeof(int) * num_experts, stream>>>(topk_ids, next, slots,
                                                                        slot_count, num_experts);
}
