// expect: wrong_answer
// Rounds up with a mask, which takes block_size for a power of two.

#include <cuda_runtime.h>

__global__ void fill(int *array, int count, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        array[i] = value;
}

__global__ void count_slots(const int *topk_ids, int *counts, int slots, int num_experts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slots && topk_ids[i] >= 0 && topk_ids[i] < num_experts)
        atomicAdd(&counts[topk_ids[i]], 1);
}

// Each of the 1024 threads takes some experts in a row.
__global__ void scan_padded(const int *counts, int *offsets, int *next, int num_experts,
                            int block_size)
{
    __shared__ int sums[1024];
    const int t = threadIdx.x, share = (num_experts + 1023) / 1024;
    int own = 0;
    for (int e = t * share; e < (t + 1) * share && e < num_experts; e++)
        own += (counts[e] + block_size - 1) & ~(block_size - 1);
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
        place += (counts[e] + block_size - 1) & ~(block_size - 1);
    }
    if (t == 1023)
        offsets[num_experts] = sums[t];
}

// One CUDA block per expert.
__global__ void own_blocks(const int *offsets, int *block_experts, int block_size)
{
    const int expert = blockIdx.x;
    const int first = offsets[expert] / block_size, end = offsets[expert + 1] / block_size;
    for (int b = first + threadIdx.x; b < end; b += blockDim.x)
        block_experts[b] = expert;
}

__global__ void place_slots(const int *topk_ids, int *next, int *sorted_slots, int slots,
                            int num_experts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slots && topk_ids[i] >= 0 && topk_ids[i] < num_experts)
        sorted_slots[atomicAdd(&next[topk_ids[i]], 1)] = i;
}

extern "C" void moe_align_block_size(const int *topk_ids, int *offsets, int *sorted_slots,
                                     int *block_experts, int num_tokens, int top_k, int num_experts,
                                     int block_size, void *workspace, size_t workspace_bytes,
                                     cudaStream_t stream)
{
    const int slots = num_tokens * top_k;
    const int places = slots + num_experts * (block_size - 1);
    const int blocks = (places + block_size - 1) / block_size;
    int *counts = static_cast<int *>(workspace), *next = counts + num_experts;
    cudaMemsetAsync(counts, 0, sizeof(int) * num_experts, stream);
    if (slots > 0)
        count_slots<<<(slots - 1) / 256 + 1, 256, 0, stream>>>(topk_ids, counts, slots,
                                                               num_experts);
    scan_padded<<<1, 1024, 0, stream>>>(counts, offsets, next, num_experts, block_size);
    if (places > 0) {
        fill<<<(places - 1) / 256 + 1, 256, 0, stream>>>(sorted_slots, places, slots);
        fill<<<(blocks - 1) / 256 + 1, 256, 0, stream>>>(block_experts, blocks, -1);
    }
    own_blocks<<<num_experts, 64, 0, stream>>>(offsets, block_experts, block_size);
    if (slots > 0)
        place_slots<<<(slots - 1) / 256 + 1, 256, 0, stream>>>(topk_ids, next, sorted_slots, slots,
                                                               num_experts);
}
