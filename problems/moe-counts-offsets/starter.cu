// MoE counts and offsets: a histogram and its exclusive prefix sum. The rules are in statement.md;
// hints: ./judge.sh hint moe-counts-offsets
//
// This starter compiles and counts rightly, with one global atomic per id. The offsets are missing.

#include <cuda_runtime.h>

__global__ void count_ids(const int *topk_ids, int *counts, long long id_count, int num_experts)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long i = thread; i < id_count; i += stride) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            atomicAdd(&counts[expert], 1);
    }
}

__global__ void scan_counts(const int *counts, int *offsets, int num_experts)
{
    // TODO: offsets[e] = counts[0] + ... + counts[e - 1], for up to 4096 experts.
    if (threadIdx.x == 0)
        offsets[0] = 0;
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    cudaMemsetAsync(counts, 0, sizeof(int) * num_experts, stream);
    if (id_count > 0)
        count_ids<<<128, 256, 0, stream>>>(topk_ids, counts, id_count, num_experts);
    scan_counts<<<1, 1024, 0, stream>>>(counts, offsets, num_experts);
}
