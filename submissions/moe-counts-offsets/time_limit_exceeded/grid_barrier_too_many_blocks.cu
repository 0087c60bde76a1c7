// expect: time_limit_exceeded
// expect-finding: deadlock
// A spin barrier over a grid of which only a part fits on the device at once: the blocks that run
// wait for blocks that cannot start before they end.

#include <cuda_runtime.h>

__device__ unsigned arrived;

// Everybody waits until all blocks of the grid are here.
__device__ void grid_barrier(unsigned expected)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned *)&arrived % expected != 0) { // <-- deadlock
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void count_and_scan(const int *topk_ids, int *counts, int *offsets, long long id_count,
                               int num_experts)
{
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long i = thread; i < id_count; i += threads) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            atomicAdd(&counts[expert], 1);
    }
    grid_barrier(gridDim.x);
    for (long long e = thread; e < num_experts; e += threads) {
        int sum = 0;
        for (long long before = 0; before < e; before++)
            sum += *(volatile int *)&counts[before];
        offsets[e] = sum;
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    cudaMemsetAsync(counts, 0, num_experts * sizeof(int), stream);
    count_and_scan<<<100000, 256, 0, stream>>>(topk_ids, counts, offsets, id_count, num_experts);
}
