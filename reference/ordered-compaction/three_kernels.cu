// Ordered compaction, rung 1: three kernels, flags never stored.
//
// Contract: 0 <= n < 2^31; `in` and `out` do not overlap and are aligned to 4 bytes; the workspace
// holds at least 4 * ceil(n / 2048) bytes, aligned to 4, contents undefined; keeps in[i] > 0 in the
// order of the input, so NaN and -0.0 go and +infinity and positive subnormals stay; writes *count
// also for n = 0; leaves out[*count .. n) as it was. The same bits on every run. All work goes on
// `stream`; calls with different workspaces may overlap.
// Method: 1. count_tiles: how many items each tile keeps.
//         2. scan_tile_counts: one block turns the counts into the place of each tile's first item;
//            the total is *count.
//         3. scatter_tiles: look at the items again; a kept item goes to the tile's place + the
//            kept items before it in the tile, by ballot and popc.
// Moves: 8 bytes in (each item is read twice), 4 bytes out per kept item.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;              // 8 warps: enough to hide loads, short barriers
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 8;                   // loads in flight per thread
constexpr int kTile = kThreads * kRows;    // items of one block
constexpr int kScanThreads = 1024;         // one block scans all tile counts, this many at a time

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

// ---- tile: warp w owns kRows rows of 32 consecutive items, so order is row by row ----

struct TileItems {
    float values[kRows];
    unsigned votes[kRows]; // per row: the lanes whose item is kept
    int kept;              // by this warp, in all rows
};

__device__ __forceinline__ TileItems tile_load(const float *in, int n)
{
    // Unsigned: the last tile may reach past 2^31.
    const unsigned first =
        blockIdx.x * unsigned{kTile} + warp_index() * (kRows * kLanes) + lane_index();
    TileItems items;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = first + row * kLanes;
        items.values[row] = i < unsigned(n) ? in[i] : 0.0f; // 0 is not kept
    }
    items.kept = 0;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        items.votes[row] = __ballot_sync(kAllLanes, items.values[row] > 0.0f);
        items.kept += __popc(items.votes[row]);
    }
    return items;
}

// ---- block ----

// Kept items of the warps before this one, and of the whole block. Every thread calls it.
__device__ __forceinline__ int block_kept_before(int warp_kept, int &block_kept)
{
    __shared__ int kept[kWarps];
    if (lane_index() == 0)
        kept[warp_index()] = warp_kept;
    __syncthreads();
    int before = 0;
    block_kept = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        if (warp < warp_index())
            before += kept[warp];
        block_kept += kept[warp];
    }
    return before;
}

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

// ---- kernels ----

__global__ void __launch_bounds__(kThreads) count_tiles(const float *in, int *tile_counts, int n)
{
    const TileItems items = tile_load(in, n);
    int tile_kept;
    block_kept_before(items.kept, tile_kept);
    if (threadIdx.x == 0)
        tile_counts[blockIdx.x] = tile_kept;
}

__global__ void __launch_bounds__(kScanThreads)
    scan_tile_counts(int *tile_counts, int tile_count, int *count)
{
    int carry = 0; // the same in every thread
    for (int first = 0; first < tile_count; first += kScanThreads) {
        const int tile = first + threadIdx.x;
        const int kept = tile < tile_count ? tile_counts[tile] : 0;
        int total;
        const int before = block_exclusive_sum(kept, total);
        if (tile < tile_count)
            tile_counts[tile] = carry + before;
        carry += total;
    }
    if (threadIdx.x == 0)
        *count = carry;
}

__global__ void __launch_bounds__(kThreads)
    scatter_tiles(const float *in, float *out, const int *tile_places, int n)
{
    const TileItems items = tile_load(in, n);
    int tile_kept;
    int place = tile_places[blockIdx.x] + block_kept_before(items.kept, tile_kept);
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        if (items.votes[row] >> lane_index() & 1)
            out[place + lane_rank(items.votes[row])] = items.values[row];
        place += __popc(items.votes[row]);
    }
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    const int tile_count = (n - 1) / kTile + 1;
    int *tile_counts = static_cast<int *>(workspace);
    count_tiles<<<tile_count, kThreads, 0, stream>>>(in, tile_counts, n);
    cudaGetLastError();
    scan_tile_counts<<<1, kScanThreads, 0, stream>>>(tile_counts, tile_count, count);
    cudaGetLastError();
    scatter_tiles<<<tile_count, kThreads, 0, stream>>>(in, out, tile_counts, n);
    cudaGetLastError();
}
