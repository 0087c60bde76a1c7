// MoE counts and offsets, rung 0: one thread, two loops. The yardstick of every other rung.
//
// Contract: num_tokens >= 0, top_k >= 0, their product fits in int64; 1 <= num_experts <= 4096; all
// arrays are aligned to 4 bytes and do not overlap; ids outside [0, num_experts) are not counted;
// counts[e] = how many ids are e, offsets[e] = counts[0] + ... + counts[e - 1]; both are written
// also when there is no token. The same bits on every run. All work goes on `stream`; no workspace.
// Method: a histogram, then an exclusive prefix sum of it.
// Moves: 4 bytes in per id, 8 bytes out per expert.

#include <cuda_runtime.h>

__global__ void count_serially(const int *topk_ids, int *counts, int *offsets, long long id_count,
                               int num_experts)
{
    for (int expert = 0; expert < num_experts; expert++)
        counts[expert] = 0;
    for (long long i = 0; i < id_count; i++) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            counts[expert]++;
    }
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
    count_serially<<<1, 1, 0, stream>>>(topk_ids, counts, offsets, id_count, num_experts);
    cudaGetLastError();
}
