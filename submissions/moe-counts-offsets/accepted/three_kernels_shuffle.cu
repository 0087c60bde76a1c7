// expect: accepted
// Clear, count in shared memory, scan with shuffles: three kernels.

#include <cuda_runtime.h>

constexpr int kThreads = 512;

__global__ void clear(int *counts, int num_experts)
{
    const int expert = blockIdx.x * blockDim.x + threadIdx.x;
    if (expert < num_experts)
        counts[expert] = 0;
}

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
            atomicAdd(&histogram[expert], 1);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < num_experts; e += blockDim.x)
        if (histogram[e] != 0)
            atomicAdd(&counts[e], histogram[e]);
}

__device__ int warp_inclusive_scan(int v)
{
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int up = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += up;
    }
    return v;
}

__global__ void scan_counts(const int *counts, int *offsets, int num_experts)
{
    __shared__ int warp_totals[kThreads / 32];
    __shared__ int carry;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        carry = 0;
    for (int first = 0; first < num_experts; first += kThreads) {
        const int e = first + threadIdx.x;
        const int own = e < num_experts ? counts[e] : 0;
        const int inclusive = warp_inclusive_scan(own);
        if (lane == 31)
            warp_totals[warp] = inclusive;
        __syncthreads();
        if (warp == 0) {
            const int t = lane < kThreads / 32 ? warp_totals[lane] : 0;
            const int s = warp_inclusive_scan(t);
            if (lane < kThreads / 32)
                warp_totals[lane] = s;
        }
        __syncthreads();
        const int before = carry + (warp > 0 ? warp_totals[warp - 1] : 0);
        if (e < num_experts)
            offsets[e] = before + inclusive - own;
        __syncthreads();
        if (threadIdx.x == kThreads - 1)
            carry = before + inclusive;
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    clear<<<(num_experts + 255) / 256, 256, 0, stream>>>(counts, num_experts);
    const long long wanted = (id_count + kThreads * 8 - 1) / (kThreads * 8);
    if (wanted > 0)
        count_ids<<<(unsigned)(wanted < 528 ? wanted : 528), kThreads, num_experts * sizeof(int),
                    stream>>>(topk_ids, counts, id_count, num_experts);
    scan_counts<<<1, kThreads, 0, stream>>>(counts, offsets, num_experts);
}
