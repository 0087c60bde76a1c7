// expect: accepted
// One cooperative launch: all blocks are resident, so they may wait for each other at grid.sync().

#include <cooperative_groups.h>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void count_and_scan(const int *topk_ids, int *counts, int *offsets, long long id_count,
                               int num_experts)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long e = thread; e < num_experts; e += threads)
        counts[e] = 0;
    grid.sync();
    for (long long i = thread; i < id_count; i += threads) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            atomicAdd(&counts[expert], 1);
    }
    grid.sync();
    // A warp per 32 experts adds up all counts before them, then scans its own.
    const int lane = threadIdx.x % 32;
    for (long long first = thread - lane; first < num_experts; first += threads) {
        int before = 0;
        for (long long e = lane; e < first; e += 32)
            before += counts[e];
        for (int distance = 16; distance > 0; distance /= 2)
            before += __shfl_xor_sync(0xffffffff, before, distance);
        const long long e = first + lane;
        const int own = e < num_experts ? counts[e] : 0;
        int sum = own;
        for (int distance = 1; distance < 32; distance *= 2) {
            const int up = __shfl_up_sync(0xffffffff, sum, distance);
            sum += lane >= distance ? up : 0;
        }
        if (e < num_experts)
            offsets[e] = before + sum - own;
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    void *arguments[] = {&topk_ids, &counts, &offsets, (void *)&id_count, &num_experts};
    cudaLaunchCooperativeKernel((void *)count_and_scan, dim3(16), dim3(kThreads), arguments, 0,
                                stream);
}
