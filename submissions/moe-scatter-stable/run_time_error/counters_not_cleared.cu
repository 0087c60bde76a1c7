// expect: run_time_error
// expect-finding: uninitialized_read
// Counts on from whatever shared memory holds.

#include <cuda_runtime.h>

constexpr int kRows = 32;
constexpr int kTile = 32 * kRows;

__global__ void count_tiles(const int *topk_ids, int *counts, int slot_count, int num_experts)
{
    extern __shared__ int own[];
    for (int row = 0; row < kRows; row++) {
        const int i = blockIdx.x * kTile + row * 32 + threadIdx.x;
        const unsigned expert = i < slot_count ? topk_ids[i] : -1;
        if (expert < (unsigned)num_experts)
            atomicAdd(&own[expert], 1);
    }
    __syncwarp();
    for (int e = threadIdx.x; e < num_experts; e += 32)
        counts[blockIdx.x * num_experts + e] = own[e];
}

// Per expert: how many are in the tiles before, and how many there are.
__global__ void scan_tiles(int *counts, int *totals, int tiles, int num_experts)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= num_experts)
        return;
    int sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
        const int own = counts[tile * num_experts + e];
        counts[tile * num_experts + e] = sum;
        sum += own;
    }
    totals[e] = sum;
}

// Each of the 1024 threads takes some experts in a row.
__global__ void scan_totals(const int *totals, int *offsets, int num_experts)
{
    __shared__ int sums[1024];
    const int t = threadIdx.x, share = (num_experts + 1023) / 1024;
    int own = 0;
    for (int e = t * share; e < (t + 1) * share && e < num_experts; e++)
        own += totals[e];
    sums[t] = own;
    __syncthreads();
    for (int distance = 1; distance < 1024; distance *= 2) {
        const int before = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    int place = sums[t] - own;
    for (int e = t * share; e < (t + 1) * share && e < num_experts; e++) {
        offsets[e] = place;
        place += totals[e];
    }
    if (t == 1023)
        offsets[num_experts] = sums[t];
}

__global__ void place_tiles(const int *topk_ids, const int *counts, const int *offsets, int *slots,
                            int slot_count, int num_experts)
{
    extern __shared__ int next[];
    for (int e = threadIdx.x; e < num_experts; e += 32)
        next[e] = offsets[e] + counts[blockIdx.x * num_experts + e];
    __syncwarp();
    for (int row = 0; row < kRows; row++) {
        const int i = blockIdx.x * kTile + row * 32 + threadIdx.x;
        const int id = i < slot_count ? topk_ids[i] : -1;
        const int expert = id >= 0 && id < num_experts ? id : -1;
        const unsigned same = __match_any_sync(0xffffffff, expert);
        const int rank = __popc(same & ((1u << threadIdx.x) - 1));
        const int place = expert >= 0 ? next[expert] : 0;
        __syncwarp();
        if (expert >= 0)
            slots[place + rank] = i;
        if (expert >= 0 && rank == 0)
            next[expert] = place + __popc(same);
        __syncwarp();
    }
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    const int slot_count = num_tokens * top_k;
    int *totals = static_cast<int *>(workspace), *counts = totals + num_experts;
    cudaMemsetAsync(slots, 0xff, sizeof(int) * slot_count, stream);
    const int tiles = slot_count > 0 ? (slot_count - 1) / kTile + 1 : 0;
    const int bytes = sizeof(int) * num_experts;
    if (tiles > 0)
        count_tiles<<<tiles, 32, bytes, stream>>>(topk_ids, counts, slot_count, num_experts);
    scan_tiles<<<(num_experts + 127) / 128, 128, 0, stream>>>(counts, totals, tiles, num_experts);
    scan_totals<<<1, 1024, 0, stream>>>(totals, offsets, num_experts);
    if (tiles > 0)
        place_tiles<<<tiles, 32, bytes, stream>>>(topk_ids, counts, offsets, slots, slot_count,
                                                  num_experts);
}
