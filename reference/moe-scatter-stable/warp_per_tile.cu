// Stable MoE scatter, rung 1: a warp goes through its tile row by row, in order.
//
// Contract: S = num_tokens * top_k >= 0 fits into an int; 1 <= num_experts <= 2048; arrays aligned
// to 4 bytes, not overlapping; slots of an expert in ascending order; slots with ids outside
// [0, num_experts) appear nowhere; behind the last slot -1; everything is written also when there
// is no token. The same bits on every run. All work goes on `stream`; workspace: 4 bytes per expert
// and tile of 1024 slots.
// Method: 1. count_tiles: how many slots of each expert are in each tile.
//         2. scan_tiles: a thread per expert turns them into how many are in the tiles before.
//         3. scan_experts: one block, 1024 experts at a time; fill_tail: -1 behind the last.
//         4. place_tiles: lanes with the same expert find each other by match_any; the first of
//            them keeps the expert's next place.
// Moves: 8 bytes in, 4 bytes out per slot; 16 bytes per expert and tile.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kRows = 32; // per tile: fewer, and counters cost more than slots
constexpr int kTile = kLanes * kRows;
constexpr int kExpertThreads = 64; // few experts are to spread over several SMs
constexpr int kTailThreads = 256;
constexpr int kTailBlocks = 64;    // fill what is left of slots, in strides
constexpr int kScanThreads = 1024; // one block scans the totals, this many at a time

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

// ---- tile: kRows rows of 32 consecutive slots; one block, which is one warp, has it ----

// Unsigned: the last tile may reach past 2^31.
__device__ __forceinline__ unsigned tile_index(int row)
{
    return blockIdx.x * unsigned{kTile} + row * kLanes + lane_index();
}

// -1: no slot, or one that is not ours.
__device__ __forceinline__ int expert_of(const int *topk_ids, unsigned i, int slot_count,
                                         int num_experts)
{
    const int id = i < unsigned(slot_count) ? topk_ids[i] : -1;
    return unsigned(id) < unsigned(num_experts) ? id : -1;
}

// ---- kernels ----

// counts[tile * num_experts + expert]
__global__ void __launch_bounds__(kLanes)
    count_tiles(const int *topk_ids, int *counts, int slot_count, int num_experts)
{
    extern __shared__ int own[]; // one per expert
    for (int expert = lane_index(); expert < num_experts; expert += kLanes)
        own[expert] = 0;
    __syncwarp();
    for (int row = 0; row < kRows; row++) {
        const int expert = expert_of(topk_ids, tile_index(row), slot_count, num_experts);
        if (expert >= 0)
            atomicAdd(&own[expert], 1); // partner: the same in the other lanes
    }
    __syncwarp();
    for (int expert = lane_index(); expert < num_experts; expert += kLanes)
        counts[size_t(blockIdx.x) * num_experts + expert] = own[expert];
}

// A thread turns the counts of an expert into how many are in the tiles before, and keeps the sum.
__global__ void __launch_bounds__(kExpertThreads)
    scan_tiles(int *counts, int *totals, int tiles, int num_experts)
{
    const int expert = blockIdx.x * kExpertThreads + threadIdx.x;
    if (expert >= num_experts)
        return;
    int sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
        int &count = counts[size_t(tile) * num_experts + expert];
        const int own = count;
        count = sum;
        sum += own;
    }
    totals[expert] = sum;
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
__global__ void __launch_bounds__(kTailThreads)
    fill_tail(const int *total, int *slots, int slot_count)
{
    const int stride = gridDim.x * kTailThreads;
    for (long long place = (long long)*total + blockIdx.x * kTailThreads + threadIdx.x;
         place < slot_count; place += stride)
        slots[place] = -1;
}

__global__ void __launch_bounds__(kLanes)
    place_tiles(const int *topk_ids, const int *before_tiles, const int *offsets, int *slots,
                int slot_count, int num_experts)
{
    extern __shared__ int next[]; // per expert: the next place
    for (int expert = lane_index(); expert < num_experts; expert += kLanes)
        next[expert] = offsets[expert] + before_tiles[size_t(blockIdx.x) * num_experts + expert];
    __syncwarp();
    for (int row = 0; row < kRows; row++) {
        const unsigned i = tile_index(row);
        const int expert = expert_of(topk_ids, i, slot_count, num_experts);
        const unsigned same = __match_any_sync(kAllLanes, expert);
        const int place = expert >= 0 ? next[expert] : 0;
        __syncwarp(); // all have read before the first of each expert writes
        if (expert >= 0) {
            slots[place + lane_rank(same)] = int(i);
            if (lane_rank(same) == 0)
                next[expert] = place + __popc(same);
        }
        __syncwarp();
    }
}

extern "C" void moe_scatter_stable(const int *topk_ids, int *offsets, int *slots, int num_tokens,
                                   int top_k, int num_experts, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    const int slot_count = num_tokens * top_k;
    const int tiles = slot_count > 0 ? (slot_count - 1) / kTile + 1 : 0;
    const size_t shared_bytes = sizeof(int) * size_t(num_experts);
    int *totals = static_cast<int *>(workspace), *counts = totals + num_experts;

    if (tiles > 0) {
        count_tiles<<<tiles, kLanes, shared_bytes, stream>>>(topk_ids, counts, slot_count,
                                                             num_experts);
        cudaGetLastError();
    }
    scan_tiles<<<(num_experts - 1) / kExpertThreads + 1, kExpertThreads, 0, stream>>>(
        counts, totals, tiles, num_experts);
    cudaGetLastError();
    scan_experts<<<1, kScanThreads, 0, stream>>>(totals, offsets, num_experts);
    cudaGetLastError();
    if (tiles > 0) {
        fill_tail<<<kTailBlocks, kTailThreads, 0, stream>>>(offsets + num_experts, slots,
                                                            slot_count);
        cudaGetLastError();
        place_tiles<<<tiles, kLanes, shared_bytes, stream>>>(topk_ids, counts, offsets, slots,
                                                             slot_count, num_experts);
        cudaGetLastError();
    }
}
