// Stable MoE scatter, rung 2: the warps of a block rank their rows side by side.
//
// Contract: S = num_tokens * top_k >= 0 fits into an int; 1 <= num_experts <= 2048; arrays aligned
// to 4 bytes, not overlapping; slots of an expert in ascending order; slots with ids outside
// [0, num_experts) appear nowhere; behind the last slot -1; everything is written also when there
// is no token. The same bits on every run. All work goes on `stream`; workspace: 4 bytes per expert
// and tile of 2048 slots, and 4 per expert.
// Method: 1. count_tiles: how many slots of each expert are in each tile.
//         2. scan_tiles: a block turns 32 of these columns over in shared memory, so that a warp
//            scans an expert's and global memory is read and written in rows.
//         3. scan_experts: one block, 1024 experts at a time; fill_tail: -1 behind the last.
//         4. place_tiles: each warp ranks its rows, lanes with the same expert finding each other
//            by match_any; then the warps' counts become places, and every slot goes to its own.
// Moves: 8 bytes in, 4 bytes out per slot; 16 bytes per expert and tile.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 128; // 4 warps: their counters of 2048 experts fit into 32 KiB
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 16; // slots per thread, kept in registers
constexpr int kTile = kThreads * kRows;
constexpr int kTailBlocks = 64;    // fill what is left of slots, in strides
constexpr int kScanThreads = 1024; // 32 warps, for a square of 32 tiles and 32 experts

// ---- lane and warp ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

// How many of the voting lanes come before this one.
__device__ __forceinline__ int lane_rank(unsigned votes)
{
    return __popc(votes & ((1u << lane_index()) - 1));
}

__device__ __forceinline__ int warp_inclusive_sum(int value)
{
#pragma unroll
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

// ---- tile: warp w owns kRows rows of 32 consecutive slots, so order is row by row ----

// Unsigned: the last tile may reach past 2^31.
__device__ __forceinline__ unsigned tile_index(int row)
{
    return blockIdx.x * unsigned{kTile} + (warp_index() * kRows + row) * kLanes + lane_index();
}

struct TileIds {
    int experts[kRows]; // -1: no slot, or one that is not ours
};

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

// ---- kernels ----

// counts[tile * num_experts + expert]
__global__ void __launch_bounds__(kThreads)
    count_tiles(const int *topk_ids, int *counts, int slot_count, int num_experts)
{
    extern __shared__ int own[]; // one per expert
    const TileIds ids = tile_load(topk_ids, slot_count, num_experts);
    for (int expert = threadIdx.x; expert < num_experts; expert += kThreads)
        own[expert] = 0;
    __syncthreads();
#pragma unroll
    for (int row = 0; row < kRows; row++)
        if (ids.experts[row] >= 0)
            atomicAdd(&own[ids.experts[row]], 1); // partner: the same in the other threads
    __syncthreads();
    for (int expert = threadIdx.x; expert < num_experts; expert += kThreads)
        counts[size_t(blockIdx.x) * num_experts + expert] = own[expert];
}

// A block has 32 experts: it turns their counts into how many are in the tiles before, 32 tiles at
// a time, and keeps the sums.
__global__ void __launch_bounds__(kScanThreads)
    scan_tiles(int *counts, int *totals, int tiles, int num_experts)
{
    __shared__ int square[kLanes][kLanes + 1]; // [tile][expert]; columns are free of conflicts
    const int column = blockIdx.x * kLanes + lane_index(); // the expert that this thread moves
    const int expert = blockIdx.x * kLanes + warp_index(); // the one that its warp scans
    int carry = 0;                                         // of that, the same in the whole warp
    for (int first = 0; first < tiles; first += kLanes) {
        const int tile = first + warp_index();
        const bool valid = tile < tiles && column < num_experts;
        int *count = counts + size_t(tile) * num_experts + column;
        square[warp_index()][lane_index()] = valid ? *count : 0;
        __syncthreads();
        const int own = square[lane_index()][warp_index()];
        const int inclusive = warp_inclusive_sum(own);
        square[lane_index()][warp_index()] = carry + inclusive - own;
        carry += __shfl_sync(kAllLanes, inclusive, kLanes - 1);
        __syncthreads();
        if (valid)
            *count = square[warp_index()][lane_index()];
    }
    if (lane_index() == 0 && expert < num_experts)
        totals[expert] = carry;
}

__global__ void __launch_bounds__(kScanThreads)
    scan_experts(const int *totals, int *offsets, int num_experts)
{
    int carry = 0; // the same in every thread
    for (int first = 0; first < num_experts; first += kScanThreads) {
        const int expert = first + threadIdx.x;
        int total;
        const int before = block_exclusive_sum(expert < num_experts ? totals[expert] : 0, total);
        if (expert < num_experts)
            offsets[expert] = carry + before;
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
    place_tiles(const int *topk_ids, const int *before_tiles, const int *offsets, int *slots,
                int slot_count, int num_experts)
{
    extern __shared__ int warp_next[]; // [warp][expert]: first counts, then places
    const TileIds ids = tile_load(topk_ids, slot_count, num_experts);
    for (int k = threadIdx.x; k < kWarps * num_experts; k += kThreads)
        warp_next[k] = 0;
    __syncthreads();

    // Rank each slot among those of its warp with the same expert.
    int *mine = warp_next + warp_index() * num_experts;
    int ranks[kRows];
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const int expert = ids.experts[row];
        const unsigned same = __match_any_sync(kAllLanes, expert);
        const int before = expert >= 0 ? mine[expert] : 0;
        __syncwarp(); // all have read before the first of each expert writes
        if (expert >= 0 && lane_rank(same) == 0)
            mine[expert] = before + __popc(same);
        __syncwarp();
        ranks[row] = before + lane_rank(same);
    }
    __syncthreads();

    // Where each expert begins in each warp.
    for (int expert = threadIdx.x; expert < num_experts; expert += kThreads) {
        int place = offsets[expert] + before_tiles[size_t(blockIdx.x) * num_experts + expert];
#pragma unroll
        for (int warp = 0; warp < kWarps; warp++) {
            const int count = warp_next[warp * num_experts + expert];
            warp_next[warp * num_experts + expert] = place;
            place += count;
        }
    }
    __syncthreads();

#pragma unroll
    for (int row = 0; row < kRows; row++)
        if (ids.experts[row] >= 0)
            slots[mine[ids.experts[row]] + ranks[row]] = int(tile_index(row));
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    const int slot_count = num_tokens * top_k;
    const int tiles = slot_count > 0 ? (slot_count - 1) / kTile + 1 : 0;
    const size_t row_bytes = sizeof(int) * size_t(num_experts);
    int *totals = static_cast<int *>(workspace), *counts = totals + num_experts;

    if (tiles > 0) {
        count_tiles<<<tiles, kThreads, row_bytes, stream>>>(topk_ids, counts, slot_count,
                                                            num_experts);
        cudaGetLastError();
    }
    scan_tiles<<<(num_experts - 1) / kLanes + 1, kScanThreads, 0, stream>>>(counts, totals, tiles,
                                                                            num_experts);
    cudaGetLastError();
    scan_experts<<<1, kScanThreads, 0, stream>>>(totals, offsets, num_experts);
    cudaGetLastError();
    if (tiles > 0) {
        fill_tail<<<kTailBlocks, kThreads, 0, stream>>>(offsets + num_experts, slots, slot_count);
        cudaGetLastError();
        place_tiles<<<tiles, kThreads, kWarps * row_bytes, stream>>>(
            topk_ids, counts, offsets, slots, slot_count, num_experts);
        cudaGetLastError();
    }
}
