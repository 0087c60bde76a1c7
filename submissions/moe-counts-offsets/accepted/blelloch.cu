// expect: accepted
// The scan is Blelloch's, over a power of two of experts in shared memory, in place.

#include <cuda_runtime.h>

constexpr int kThreads = 512;

__global__ void count_ids(const int *topk_ids, int *counts, long long id_count, int num_experts)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long i = thread; i < id_count; i += stride) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            atomicAdd(counts + expert, 1);
    }
}

__global__ void blelloch(const int *counts, int *offsets, int num_experts, int padded)
{
    extern __shared__ int tree[];
    for (int e = threadIdx.x; e < padded; e += blockDim.x)
        tree[e] = e < num_experts ? counts[e] : 0;
    for (int step = 1; step < padded; step *= 2) {
        __syncthreads();
        for (int right = (2 * threadIdx.x + 2) * step - 1; right < padded;
             right += 2 * blockDim.x * step)
            tree[right] += tree[right - step];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        tree[padded - 1] = 0;
    for (int step = padded / 2; step > 0; step /= 2) {
        __syncthreads();
        for (int right = (2 * threadIdx.x + 2) * step - 1; right < padded;
             right += 2 * blockDim.x * step) {
            const int left = tree[right - step];
            tree[right - step] = tree[right];
            tree[right] += left;
        }
    }
    __syncthreads();
    for (int e = threadIdx.x; e < num_experts; e += blockDim.x)
        offsets[e] = tree[e];
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    cudaMemsetAsync(counts, 0, num_experts * sizeof(int), stream);
    if (id_count > 0)
        count_ids<<<64, 256, 0, stream>>>(topk_ids, counts, id_count, num_experts);
    int padded = 1;
    while (padded < num_experts)
        padded *= 2;
    blelloch<<<1, kThreads, padded * sizeof(int), stream>>>(counts, offsets, num_experts, padded);
}
