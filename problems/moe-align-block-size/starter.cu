// MoE: experts padded to blocks. The rules are in statement.md; hints: ./judge.sh hint
// moe-align-block-size
//
// This starter compiles, and counts the slots of each expert. What follows from the counts is
// missing.

#include <cuda_runtime.h>

__global__ void count_slots(const int *topk_ids, int *counts, int slots, int num_experts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slots && topk_ids[i] >= 0 && topk_ids[i] < num_experts)
        atomicAdd(&counts[topk_ids[i]], 1);
}

__global__ void scan_padded_counts(const int *counts, int *offsets, int num_experts, int block_size)
{
    // TODO: round each count up to a multiple of block_size, then scan.
    if (threadIdx.x == 0)
        offsets[0] = 0;
}

extern "C" void moe_align_block_size(const int *topk_ids, int *offsets, int *sorted_slots,
                                     int *block_experts, int num_tokens, int top_k, int num_experts,
                                     int block_size, void *workspace, size_t workspace_bytes,
                                     cudaStream_t stream)
{
    const int slots = num_tokens * top_k;
    int *counts = static_cast<int *>(workspace);
    cudaMemsetAsync(counts, 0, sizeof(int) * num_experts, stream);
    if (slots > 0)
        count_slots<<<(slots - 1) / 256 + 1, 256, 0, stream>>>(topk_ids, counts, slots,
                                                               num_experts);
    scan_padded_counts<<<1, 1024, 0, stream>>>(counts, offsets, num_experts, block_size);
    // TODO: the padding, the slots, and the expert of each block.
}
