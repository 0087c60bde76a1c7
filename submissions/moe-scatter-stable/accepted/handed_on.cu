// expect: accepted
// No counters per tile: blocks take tiles by ticket, and each hands the next places of all experts
// on to the one behind it.

#include <cuda_runtime.h>

constexpr int kThreads = 128;
constexpr int kRows = 8;
constexpr int kTile = kThreads * kRows;

__global__ void count_slots(const int *topk_ids, int *counts, int slot_count, int num_experts)
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
        if (own[e] > 0)
            atomicAdd(&counts[e], own[e]);
}

// Counts become the first places.
__global__ void scan_counts(int *counts, int *offsets, int num_experts)
{
    if (threadIdx.x != 0)
        return;
    int place = 0;
    for (int e = 0; e < num_experts; e++) {
        const int count = counts[e];
        counts[e] = offsets[e] = place;
        place += count;
    }
    offsets[num_experts] = place;
}

__global__ void place_slots(const int *topk_ids, int *handed, int *next, int *slots, int slot_count,
                            int num_experts)
{
    extern __shared__ int counts[]; // [warp][expert]
    __shared__ int tile;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int *mine = counts + warp * num_experts;
    if (t == 0)
        tile = atomicAdd(&handed[0], 1);
    for (int k = t; k < kThreads / 32 * num_experts; k += kThreads)
        counts[k] = 0;
    __syncthreads();

    const int first = tile * kTile + warp * 32 * kRows + lane;
    int ranks[kRows];
    for (int row = 0; row < kRows; row++) {
        const int i = first + row * 32;
        const unsigned id = i < slot_count ? topk_ids[i] : -1;
        const int expert = id < (unsigned)num_experts ? id : -1;
        const unsigned same = __match_any_sync(0xffffffff, expert);
        const int before = expert >= 0 ? mine[expert] : 0;
        __syncwarp();
        if (expert >= 0 && lane == 31 - __clz(same))
            mine[expert] = before + __popc(same);
        __syncwarp();
        ranks[row] = expert >= 0 ? before + __popc(same & ((1u << lane) - 1)) : -1;
    }

    if (t == 0) {
        while (atomicAdd(&handed[1], 0) != tile) {
        }
        __threadfence();
    }
    __syncthreads();
    for (int e = t; e < num_experts; e += kThreads) {
        int place = next[e];
        for (int w = 0; w < kThreads / 32; w++) {
            const int count = counts[w * num_experts + e];
            counts[w * num_experts + e] = place;
            place += count;
        }
        next[e] = place;
    }
    __threadfence();
    __syncthreads();
    if (t == 0)
        atomicExch(&handed[1], tile + 1);

    for (int row = 0; row < kRows; row++)
        if (ranks[row] >= 0)
            slots[mine[topk_ids[first + row * 32]] + ranks[row]] = first + row * 32;
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    const int slot_count = num_tokens * top_k;
    int *handed = static_cast<int *>(workspace), *next = handed + 2;
    cudaMemsetAsync(workspace, 0, sizeof(int) * (2 + num_experts), stream);
    cudaMemsetAsync(slots, 0xff, sizeof(int) * slot_count, stream);
    const int tiles = slot_count > 0 ? (slot_count - 1) / kTile + 1 : 0;
    const int bytes = sizeof(int) * num_experts;
    if (tiles > 0)
        count_slots<<<tiles, kThreads, bytes, stream>>>(topk_ids, next, slot_count, num_experts);
    scan_counts<<<1, 32, 0, stream>>>(next, offsets, num_experts);
    if (tiles > 0)
        place_slots<<<tiles, kThreads, bytes *(kThreads / 32), stream>>>(
            topk_ids, handed, next, slots, slot_count, num_experts);
}
