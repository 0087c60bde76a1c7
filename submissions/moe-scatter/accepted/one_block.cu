// expect: accepted
// One block does everything: counters in shared memory, barriers between the steps, no global
// atomic.

#include <cuda_runtime.h>

constexpr int kThreads = 1024;
constexpr int kMaxExperts = 2048;

__global__ void scatter(const int *topk_ids, int *offsets, int *slots, int slot_count,
                        int num_experts)
{
    __shared__ int next[kMaxExperts];
    const int t = threadIdx.x;
    for (int e = t; e < num_experts; e += kThreads)
        next[e] = 0;
    __syncthreads();
    for (int i = t; i < slot_count; i += kThreads) {
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
            place += count;
        }
        offsets[num_experts] = place;
    }
    __syncthreads();
    for (int i = t; i < slot_count; i += kThreads) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            slots[atomicAdd(&next[expert], 1)] = i;
    }
    for (int place = offsets[num_experts] + t; place < slot_count; place += kThreads)
        slots[place] = -1;
}

extern "C" void moe_scatter(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                            int top_k, int num_experts, void *workspace, size_t workspace_bytes,
                            cudaStream_t stream)
{
    scatter<<<1, kThreads, 0, stream>>>(topk_ids, offsets, slots, num_tokens * top_k, num_experts);
}
