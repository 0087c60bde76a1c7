// expect: accepted
// One global atomic per id, and one thread that adds up the counts. Slow, and right.

#include <cuda_runtime.h>

__global__ void count_ids(const int *topk_ids, int *counts, long long id_count, int num_experts)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= id_count)
        return;
    const int expert = topk_ids[i];
    if (expert >= 0 && expert < num_experts)
        atomicAdd(&counts[expert], 1);
}

__global__ void add_up(const int *counts, int *offsets, int num_experts)
{
    int sum = 0;
    for (int expert = 0; expert < num_experts; expert++) {
        offsets[expert] = sum;
        sum += counts[expert];
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    cudaMemsetAsync(counts, 0, num_experts * sizeof(int), stream);
    if (id_count > 0)
        count_ids<<<(unsigned)((id_count + 255) / 256), 256, 0, stream>>>(topk_ids, counts,
                                                                          id_count, num_experts);
    add_up<<<1, 1, 0, stream>>>(counts, offsets, num_experts);
}
