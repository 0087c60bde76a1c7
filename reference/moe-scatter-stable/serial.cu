// Stable MoE scatter, rung 0: one thread, a few loops. The yardstick of every other rung.
//
// Contract: S = num_tokens * top_k >= 0 fits into an int; 1 <= num_experts <= 2048; arrays aligned
// to 4 bytes, not overlapping; slots of an expert in ascending order; slots with ids outside
// [0, num_experts) appear nowhere; behind the last slot -1; everything is written also when there
// is no token. The same bits on every run. All work goes on `stream`; workspace: 4 bytes per
// expert.
// Method: count; scan; each slot to the next place of its expert.
// Moves: 8 bytes in, 4 bytes out per slot, and the counters.

#include <cuda_runtime.h>

__global__ void scatter_serially(const int *topk_ids, int *offsets, int *slots, int *next,
                                 int slot_count, int num_experts)
{
    for (int expert = 0; expert < num_experts; expert++)
        next[expert] = 0;
    for (int i = 0; i < slot_count; i++)
        if (topk_ids[i] >= 0 && topk_ids[i] < num_experts)
            next[topk_ids[i]]++;
    int sum = 0;
    for (int expert = 0; expert < num_experts; expert++) {
        offsets[expert] = sum;
        sum += next[expert];
        next[expert] = offsets[expert];
    }
    offsets[num_experts] = sum;
    for (int i = 0; i < slot_count; i++)
        if (topk_ids[i] >= 0 && topk_ids[i] < num_experts)
            slots[next[topk_ids[i]]++] = i;
    for (int place = sum; place < slot_count; place++)
        slots[place] = -1;
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    scatter_serially<<<1, 1, 0, stream>>>(topk_ids, offsets, slots, static_cast<int *>(workspace),
                                          num_tokens * top_k, num_experts);
    cudaGetLastError();
}
