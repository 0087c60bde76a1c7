// expect: accepted
// Warp-aggregated: lanes with the same expert find each other with __match_any_sync and send one
// atomic together, so a skewed load costs no more than an even one.

#include <cuda_runtime.h>

__global__ void count_ids(const int *topk_ids, int *counts, long long id_count, int num_experts)
{
    const int lane = threadIdx.x % 32;
    const long long stride = (long long)gridDim.x * blockDim.x;
    // The whole warp goes round together; lanes past the end hold an id that is not counted.
    for (long long base = (long long)blockIdx.x * blockDim.x + threadIdx.x - lane; base < id_count;
         base += stride) {
        const int id = base + lane < id_count ? topk_ids[base + lane] : -1;
        const unsigned same = __match_any_sync(0xffffffff, id);
        const int leader = __ffs(same) - 1;
        if (lane == leader && id >= 0 && id < num_experts)
            atomicAdd(&counts[id], __popc(same));
    }
}

// One warp, 32 experts at a time.
__global__ void scan_counts(const int *counts, int *offsets, int num_experts)
{
    const int lane = threadIdx.x;
    int carry = 0;
    for (int first = 0; first < num_experts; first += 32) {
        const int e = first + lane;
        const int own = e < num_experts ? counts[e] : 0;
        int sum = own;
        for (int offset = 1; offset < 32; offset *= 2) {
            const int up = __shfl_up_sync(0xffffffff, sum, offset);
            sum += lane >= offset ? up : 0;
        }
        if (e < num_experts)
            offsets[e] = carry + sum - own;
        carry += __shfl_sync(0xffffffff, sum, 31);
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    cudaMemsetAsync(counts, 0, num_experts * sizeof(int), stream);
    if (id_count > 0)
        count_ids<<<120, 256, 0, stream>>>(topk_ids, counts, id_count, num_experts);
    scan_counts<<<1, 32, 0, stream>>>(counts, offsets, num_experts);
}
