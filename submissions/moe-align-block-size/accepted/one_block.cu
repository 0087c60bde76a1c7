// expect: accepted
// One block does everything: counters in shared memory, barriers between the steps.

#include <cuda_runtime.h>

constexpr int kThreads = 1024;
constexpr int kMaxExperts = 2048;

__global__ void align(const int *topk_ids, int *offsets, int *sorted_slots, int *block_experts,
                      int slots, int num_experts, int block_size, int places, int blocks)
{
    __shared__ int next[kMaxExperts];
    const int t = threadIdx.x;
    for (int e = t; e < num_experts; e += kThreads)
        next[e] = 0;
    for (int place = t; place < places; place += kThreads)
        sorted_slots[place] = slots;
    for (int b = t; b < blocks; b += kThreads)
        block_experts[b] = -1;
    __syncthreads();
    for (int i = t; i < slots; i += kThreads) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            atomicAdd(&next[expert], 1);
    }
    __syncthreads();
    if (t == 0) {
        int place = 0;
        for (int e = 0; e < num_experts; e++) {
            const int count = next[e];
            next[e] = offsets[e] = place;
            place += (count + block_size - 1) / block_size * block_size;
        }
        offsets[num_experts] = place;
    }
    __syncthreads();
    for (int e = t; e < num_experts; e += kThreads)
        for (int place = offsets[e]; place < offsets[e + 1]; place += block_size)
            block_experts[place / block_size] = e;
    for (int i = t; i < slots; i += kThreads) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            sorted_slots[atomicAdd(&next[expert], 1)] = i;
    }
}

extern "C" void moe_align_block_size(const int *topk_ids, int *offsets, int *sorted_slots,
                                     int *block_experts, int num_tokens, int top_k, int num_experts,
                                     int block_size, void *workspace, size_t workspace_bytes,
                                     cudaStream_t stream)
{
    const int slots = num_tokens * top_k;
    const int places = slots + num_experts * (block_size - 1);
    align<<<1, kThreads, 0, stream>>>(topk_ids, offsets, sorted_slots, block_experts, slots,
                                      num_experts, block_size, places,
                                      (places + block_size - 1) / block_size);
}
