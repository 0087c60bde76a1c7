// expect: wrong_answer
// expect-diagnosis: multiple of 2^16
// Two counters of 16 bits in a word, which is enough for each of 96 blocks until one expert has
// more than 96 * 65,535 ids.

#include <cuda_runtime.h>

constexpr int kThreads = 256, kBlocks = 96;

__global__ void count_ids(const int *topk_ids, int *counts, long long id_count, int num_experts)
{
    extern __shared__ int histogram[];
    for (int e = threadIdx.x; e < num_experts; e += blockDim.x)
        histogram[e] = 0;
    __syncthreads();
    const long long stride = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long i = thread; i < id_count; i += stride) {
        const int expert = topk_ids[i];
        if (expert >= 0 && expert < num_experts)
            atomicAdd(&histogram[expert / 2], 1 << 16 * (expert % 2));
    }
    __syncthreads();
    for (int e = threadIdx.x; e < num_experts; e += blockDim.x)
        if ((unsigned)histogram[e / 2] >> 16 * (e % 2) & 65535)
            atomicAdd(&counts[e], (unsigned)histogram[e / 2] >> 16 * (e % 2) & 65535);
}

__device__ int warp_inclusive_scan(int v)
{
    for (int offset = 1; offset < 32; offset *= 2) {
        const int up = __shfl_up_sync(0xffffffff, v, offset);
        if (threadIdx.x % 32 >= offset)
            v += up;
    }
    return v;
}

// One block, blockDim.x experts at a time.
__global__ void scan_counts(const int *counts, int *offsets, int num_experts)
{
    __shared__ int warp_totals[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int carry = 0;
    for (int first = 0; first < num_experts; first += blockDim.x) {
        const int e = first + threadIdx.x;
        const int own = e < num_experts ? counts[e] : 0;
        const int inclusive = warp_inclusive_scan(own);
        if (lane == 31)
            warp_totals[warp] = inclusive;
        __syncthreads();
        if (warp == 0) {
            const int t = lane < warps ? warp_totals[lane] : 0;
            const int s = warp_inclusive_scan(t);
            warp_totals[lane] = s;
        }
        __syncthreads();
        const int before = carry + (warp > 0 ? warp_totals[warp - 1] : 0);
        carry += warp_totals[warps - 1];
        if (e < num_experts)
            offsets[e] = before + inclusive - own;
        __syncthreads();
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    const size_t table = num_experts * sizeof(int);
    cudaMemsetAsync(counts, 0, table, stream);
    if (id_count > 0)
        count_ids<<<kBlocks, kThreads, table, stream>>>(topk_ids, counts, id_count, num_experts);
    scan_counts<<<1, 1024, 0, stream>>>(counts, offsets, num_experts);
}
