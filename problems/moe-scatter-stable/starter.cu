// MoE: slots by expert, in order. The rules are in statement.md; hints: ./judge.sh hint
// moe-scatter-stable
//
// This starter compiles, and counts the slots of each expert. What follows from the counts is
// missing - and for the order, counts of all slots together are not enough.

#include <cuda_runtime.h>

__global__ void count_slots(const int *topk_ids, int *counts, int slot_count, int num_experts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slot_count && topk_ids[i] >= 0 && topk_ids[i] < num_experts)
        atomicAdd(&counts[topk_ids[i]], 1); // TODO: for each tile of its own
}

__global__ void scan_counts(const int *counts, int *offsets, int num_experts)
{
    // TODO: offsets[e] = counts[0] + ... + counts[e - 1], up to e = num_experts.
    if (threadIdx.x == 0)
        offsets[0] = 0;
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    const int slot_count = num_tokens * top_k;
    int *counts = static_cast<int *>(workspace);
    cudaMemsetAsync(counts, 0, sizeof(int) * num_experts, stream);
    if (slot_count > 0)
        count_slots<<<(slot_count - 1) / 256 + 1, 256, 0, stream>>>(topk_ids, counts, slot_count,
                                                                    num_experts);
    scan_counts<<<1, 1024, 0, stream>>>(counts, offsets, num_experts);
    // TODO: the slots.
}
