// expect: cost_limit_exceeded
// A block per expert looks through all ids, 256 at a time: in order, and once for every expert.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

// Every thread of the block calls it: how many threads before it say yes, and all of them.
__device__ int count_before(bool yes, int &all)
{
    __shared__ int warps[kThreads / 32];
    const unsigned votes = __ballot_sync(0xffffffff, yes);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = __popc(votes);
    __syncthreads();
    int before = __popc(votes & ((1u << threadIdx.x % 32) - 1));
    all = 0;
    for (int w = 0; w < kThreads / 32; w++) {
        before += w < threadIdx.x / 32 ? warps[w] : 0;
        all += warps[w];
    }
    __syncthreads();
    return before;
}

// offsets[e] is written by the block of expert e, offsets[num_experts] by the last.
__global__ void collect(const int *topk_ids, int *offsets, int *slots, int slot_count,
                        int num_experts)
{
    const int t = threadIdx.x, expert = blockIdx.x;
    int place = 0, all;
    for (int first = 0; first < slot_count; first += kThreads) {
        const int i = first + t, id = i < slot_count ? topk_ids[i] : -1;
        count_before(id >= 0 && id < expert, all);
        place += all;
    }
    if (t == 0)
        offsets[expert] = place;
    if (expert == num_experts)
        return;
    for (int first = 0; first < slot_count; first += kThreads) {
        const int i = first + t, id = i < slot_count ? topk_ids[i] : -1;
        const int before = count_before(id == expert, all);
        if (id == expert)
            slots[place + before] = i;
        place += all;
    }
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    const int slot_count = num_tokens * top_k;
    cudaMemsetAsync(slots, 0xff, sizeof(int) * slot_count, stream);
    collect<<<num_experts + 1, kThreads, 0, stream>>>(topk_ids, offsets, slots, slot_count,
                                                      num_experts);
}
