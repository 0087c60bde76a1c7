// expect: accepted
// Without match_any: a ballot for each bit of the id tells which lanes have the same expert. Eight
// warps take turns within a tile, so that one counter per expert is enough.

#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kRows = 4;
constexpr int kTile = kThreads * kRows;

__device__ unsigned lanes_alike(unsigned expert, unsigned num_experts)
{
    unsigned same = __ballot_sync(0xffffffff, expert < num_experts);
    for (int bit = 0; bit < 11; bit++) {
        const unsigned ones = __ballot_sync(0xffffffff, expert >> bit & 1);
        same &= expert >> bit & 1 ? ones : ~ones;
    }
    return same;
}

__global__ void count_tiles(const int *topk_ids, int *counts, int slot_count, int num_experts)
{
    extern __shared__ int own[];
    for (int e = threadIdx.x; e < num_experts; e += kThreads)
        own[e] = 0;
    __syncthreads();
    for (int row = 0; row < kRows; row++) {
        const int i = blockIdx.x * kTile + row * kThreads + threadIdx.x;
        const unsigned expert = i < slot_count ? topk_ids[i] : -1;
        if (expert < (unsigned)num_experts)
            atomicAdd(&own[expert], 1);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < num_experts; e += kThreads)
        counts[blockIdx.x * num_experts + e] = own[e];
}

// One block: each of its threads has some experts in a row. Counts become places.
__global__ void scan_counts(int *counts, int *offsets, int tiles, int num_experts)
{
    __shared__ int sums[32];
    const int t = threadIdx.x, share = (num_experts + 1023) / 1024;
    int own = 0;
    for (int e = t * share; e < (t + 1) * share && e < num_experts; e++)
        for (int tile = 0; tile < tiles; tile++)
            own += counts[tile * num_experts + e];
    int sum = own;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int before = __shfl_up_sync(0xffffffff, sum, distance);
        if (t % 32 >= distance)
            sum += before;
    }
    if (t % 32 == 31)
        sums[t / 32] = sum;
    __syncthreads();
    int place = sum - own;
    for (int warp = 0; warp < t / 32; warp++)
        place += sums[warp];
    for (int e = t * share; e < (t + 1) * share && e < num_experts; e++) {
        offsets[e] = place;
        for (int tile = 0; tile < tiles; tile++) {
            const int here = counts[tile * num_experts + e];
            counts[tile * num_experts + e] = place;
            place += here;
        }
    }
    if (t == 1023)
        offsets[num_experts] = place;
}

__global__ void place_tiles(const int *topk_ids, const int *places, int *slots, int slot_count,
                            int num_experts)
{
    extern __shared__ int next[];
    const int lane = threadIdx.x % 32;
    for (int e = threadIdx.x; e < num_experts; e += kThreads)
        next[e] = places[blockIdx.x * num_experts + e];
    for (int row = 0; row < kRows; row++) {
        const int i = blockIdx.x * kTile + row * kThreads + threadIdx.x;
        const unsigned expert = i < slot_count ? topk_ids[i] : -1;
        const bool ours = expert < (unsigned)num_experts;
        const unsigned same = lanes_alike(expert, num_experts);
        const int rank = __popc(same & ((1u << lane) - 1));
        for (int turn = 0; turn < kThreads / 32; turn++) {
            __syncthreads();
            if (turn != threadIdx.x / 32)
                continue;
            const int place = ours ? next[expert] + rank : 0;
            __syncwarp();
            if (ours)
                slots[place] = i;
            if (ours && (same >> lane) == 1)
                next[expert] = place + 1;
        }
    }
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    const int slot_count = num_tokens * top_k;
    int *counts = static_cast<int *>(workspace);
    cudaMemsetAsync(slots, 0xff, sizeof(int) * slot_count, stream);
    const int tiles = slot_count > 0 ? (slot_count - 1) / kTile + 1 : 0;
    const int bytes = sizeof(int) * num_experts;
    if (tiles > 0)
        count_tiles<<<tiles, kThreads, bytes, stream>>>(topk_ids, counts, slot_count, num_experts);
    scan_counts<<<1, 1024, 0, stream>>>(counts, offsets, tiles, num_experts);
    if (tiles > 0)
        place_tiles<<<tiles, kThreads, bytes, stream>>>(topk_ids, counts, slots, slot_count,
                                                        num_experts);
}
