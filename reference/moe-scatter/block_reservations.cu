// MoE scatter, rung 2: a block counts its slots first, and reserves for all of them at once.
//
// Contract: S = num_tokens * top_k >= 0 fits into an int; 1 <= num_experts <= 2048; arrays aligned
// to 4 bytes, not overlapping; slots with ids outside [0, num_experts) appear nowhere; behind the
// last slot -1; everything is written also when there is no token. Slots of an expert in the order
// in which blocks arrive. All work goes on `stream`; workspace: 8 bytes per expert. Method: 1.
// counts = 0.
//         2. count_slots: every block counts its tile in shared memory and adds what is not 0.
//         3. scan_counts: one block, 1024 experts at a time; fill_tail: -1 behind the last.
//         4. place_slots: every block counts its tile again, reserves places for each expert with
//            one atomic, and hands them out by atomics in shared memory.
// Moves: 8 bytes in, 4 bytes out per slot; two atomics per expert and tile of 4096 slots.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, several blocks per SM
constexpr int kRows = 16;     // slots per thread: fewer and reserving costs more than placing
constexpr int kTile = kThreads * kRows;
constexpr int kTailBlocks = 64;    // fill what is left of slots, in strides
constexpr int kScanThreads = 1024; // one block scans the counts, this many at a time

// ---- lane and warp ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

__device__ __forceinline__ int warp_inclusive_sum(int value)
{
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const int before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

// ---- block ----

// Exclusive prefix sum over a block of kScanThreads, and its total. Every thread calls it; ends
// with a barrier, so that it can be called again.
__device__ __forceinline__ int block_exclusive_sum(int value, int &total)
{
    __shared__ int warp_sums[kLanes];
    const int inclusive = warp_inclusive_sum(value);
    if (lane_index() == kLanes - 1)
        warp_sums[warp_index()] = inclusive;
    __syncthreads();
    if (warp_index() == 0)
        warp_sums[lane_index()] = warp_inclusive_sum(warp_sums[lane_index()]);
    __syncthreads();
    const int before = warp_index() > 0 ? warp_sums[warp_index() - 1] : 0;
    total = warp_sums[kLanes - 1];
    __syncthreads();
    return before + inclusive - value;
}

// ---- tile ----

struct TileIds {
    int experts[kRows]; // -1: no slot, or one that is not ours
};

// Unsigned: the last tile may reach past 2^31.
__device__ __forceinline__ unsigned tile_index(int row)
{
    return blockIdx.x * unsigned{kTile} + row * kThreads + threadIdx.x;
}

__device__ __forceinline__ TileIds tile_load(const int *topk_ids, int slot_count, int num_experts)
{
    TileIds ids;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = tile_index(row);
        const int id = i < unsigned(slot_count) ? topk_ids[i] : -1;
        ids.experts[row] = unsigned(id) < unsigned(num_experts) ? id : -1;
    }
    return ids;
}

// How many slots of the tile each expert gets. Partners: the same atomicAdd in the other threads of
// the block. Begins after, and ends with, a barrier.
__device__ __forceinline__ void tile_count(const TileIds &ids, int *tile_counts, int num_experts)
{
    for (int expert = threadIdx.x; expert < num_experts; expert += kThreads)
        tile_counts[expert] = 0;
    __syncthreads();
#pragma unroll
    for (int row = 0; row < kRows; row++)
        if (ids.experts[row] >= 0)
            atomicAdd(&tile_counts[ids.experts[row]], 1);
    __syncthreads();
}

// ---- kernels ----

__global__ void __launch_bounds__(kThreads)
    count_slots(const int *topk_ids, int *counts, int slot_count, int num_experts)
{
    extern __shared__ int tile_counts[]; // one per expert
    const TileIds ids = tile_load(topk_ids, slot_count, num_experts);
    tile_count(ids, tile_counts, num_experts);
    // Partners: the same atomicAdd in the other blocks.
    for (int expert = threadIdx.x; expert < num_experts; expert += kThreads)
        if (tile_counts[expert] > 0)
            atomicAdd(&counts[expert], tile_counts[expert]);
}

// Also sets `next`, the first place of each expert that is free.
__global__ void __launch_bounds__(kScanThreads)
    scan_counts(const int *counts, int *offsets, int *next, int num_experts)
{
    int carry = 0; // the same in every thread
    for (int first = 0; first < num_experts; first += kScanThreads) {
        const int expert = first + threadIdx.x;
        const int count = expert < num_experts ? counts[expert] : 0;
        int total;
        const int before = block_exclusive_sum(count, total);
        if (expert < num_experts) {
            offsets[expert] = carry + before;
            next[expert] = carry + before;
        }
        carry += total;
    }
    if (threadIdx.x == 0)
        offsets[num_experts] = carry;
}

// What lies behind the last slot.
__global__ void __launch_bounds__(kThreads) fill_tail(const int *total, int *slots, int slot_count)
{
    const int stride = gridDim.x * kThreads;
    for (long long place = (long long)*total + blockIdx.x * kThreads + threadIdx.x;
         place < slot_count; place += stride)
        slots[place] = -1;
}

__global__ void __launch_bounds__(kThreads)
    place_slots(const int *topk_ids, int *next, int *slots, int slot_count, int num_experts)
{
    extern __shared__ int tile_next[]; // per expert: a count first, then the next place
    const TileIds ids = tile_load(topk_ids, slot_count, num_experts);
    tile_count(ids, tile_next, num_experts);

    // Reserve. Partners: the same atomicAdd in the other blocks.
    for (int expert = threadIdx.x; expert < num_experts; expert += kThreads)
        if (tile_next[expert] > 0)
            tile_next[expert] = atomicAdd(&next[expert], tile_next[expert]);
    __syncthreads();

    // Hand out. Partners: the same atomicAdd in the other threads of the block.
#pragma unroll
    for (int row = 0; row < kRows; row++)
        if (ids.experts[row] >= 0)
            slots[atomicAdd(&tile_next[ids.experts[row]], 1)] = int(tile_index(row));
}

extern "C" void moe_scatter(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                            int top_k, int num_experts, void *workspace, size_t workspace_bytes,
                            cudaStream_t stream)
{
    (void)workspace_bytes;
    const int slot_count = num_tokens * top_k;
    const int tiles = slot_count > 0 ? (slot_count - 1) / kTile + 1 : 0;
    const size_t shared_bytes = sizeof(int) * size_t(num_experts);
    int *counts = static_cast<int *>(workspace), *next = counts + num_experts;

    cudaMemsetAsync(counts, 0, sizeof(int) * size_t(num_experts), stream);
    if (tiles > 0) {
        count_slots<<<tiles, kThreads, shared_bytes, stream>>>(topk_ids, counts, slot_count,
                                                               num_experts);
        cudaGetLastError();
    }
    scan_counts<<<1, kScanThreads, 0, stream>>>(counts, offsets, next, num_experts);
    cudaGetLastError();
    if (tiles > 0) {
        fill_tail<<<kTailBlocks, kThreads, 0, stream>>>(offsets + num_experts, slots, slot_count);
        cudaGetLastError();
        place_slots<<<tiles, kThreads, shared_bytes, stream>>>(topk_ids, next, slots, slot_count,
                                                               num_experts);
        cudaGetLastError();
    }
}
