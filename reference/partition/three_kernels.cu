// Partition, rung 2: three kernels, flags never stored.
//
// Contract: 0 <= n < 2^31; `in` and `out` aligned to 4 bytes, not overlapping; in[i] < pivot comes
// first, everything else behind, both in the order of the input; writes *count also for n = 0. The
// same bits on every run. All work goes on `stream`; the workspace holds at least 4 * ceil(n /
// 2048) bytes, aligned to 4.
// Method: count what each tile holds below the pivot; one block scans the counts, the total is
//         *count; look at the items again: one below goes to the number of those below before it,
//         any other to *count + its index - that number.
// Moves: 8 bytes in, 4 bytes out per item.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 8; // loads in flight per thread
constexpr int kTile = kThreads * kRows;
constexpr int kScanThreads = 1024; // one block scans all tile counts, this many at a time

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

// What the warps before this one counted, and the whole block. Every thread of a block of kThreads
// calls it.
__device__ __forceinline__ int block_count_before(int warp_count, int &block_count)
{
    __shared__ int counts[kWarps];
    if (lane_index() == 0)
        counts[warp_index()] = warp_count;
    __syncthreads();
    int before = 0;
    block_count = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        if (warp < warp_index())
            before += counts[warp];
        block_count += counts[warp];
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

// ---- tile: warp w owns kRows rows of 32 consecutive items, so order is row by row ----

struct TileItems {
    int values[kRows];
    unsigned votes[kRows]; // per row: the lanes whose item is below the pivot
    int below;             // of this warp, in all rows
};

// Unsigned: the last tile may reach past 2^31.
__device__ __forceinline__ unsigned tile_index(int row)
{
    return blockIdx.x * unsigned{kTile} + (warp_index() * kRows + row) * kLanes + lane_index();
}

__device__ __forceinline__ TileItems tile_load(const int *in, int n, int pivot)
{
    TileItems items;
    items.below = 0;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = tile_index(row);
        const bool valid = i < unsigned(n);
        items.values[row] = valid ? in[i] : 0;
        items.votes[row] = __ballot_sync(kAllLanes, valid && items.values[row] < pivot);
        items.below += __popc(items.votes[row]);
    }
    return items;
}

// ---- kernels ----

__global__ void __launch_bounds__(kThreads)
    count_tiles(const int *in, int *tile_counts, int n, int pivot)
{
    const TileItems items = tile_load(in, n, pivot);
    int tile_below;
    block_count_before(items.below, tile_below);
    if (threadIdx.x == 0)
        tile_counts[blockIdx.x] = tile_below;
}

// One block turns the counts of tiles into what all tiles before them count; the total goes to
// *count.
__global__ void __launch_bounds__(kScanThreads)
    scan_tile_counts(int *tile_counts, int tile_count, int *count)
{
    int carry = 0; // the same in every thread
    for (int first = 0; first < tile_count; first += kScanThreads) {
        const int tile = first + threadIdx.x;
        const int own = tile < tile_count ? tile_counts[tile] : 0;
        int total;
        const int before = block_exclusive_sum(own, total);
        if (tile < tile_count)
            tile_counts[tile] = carry + before;
        carry += total;
    }
    if (threadIdx.x == 0)
        *count = carry;
}

__global__ void __launch_bounds__(kThreads)
    scatter_tiles(const int *in, int *out, const int *below_before_tiles, const int *count, int n,
                  int pivot)
{
    const TileItems items = tile_load(in, n, pivot);
    int tile_below;
    int below_before = below_before_tiles[blockIdx.x] + block_count_before(items.below, tile_below);
    const int second_side = *count;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = tile_index(row);
        const int below = below_before + lane_rank(items.votes[row]); // before item i
        if (items.votes[row] >> lane_index() & 1)
            out[below] = items.values[row];
        else if (i < unsigned(n))
            out[second_side + (int(i) - below)] = items.values[row];
        below_before += __popc(items.votes[row]);
    }
}

extern "C" void partition_below(const int *in, int *out, int *count, int n, int pivot,
                                void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    const int tile_count = (n - 1) / kTile + 1;
    int *tile_counts = static_cast<int *>(workspace);
    count_tiles<<<tile_count, kThreads, 0, stream>>>(in, tile_counts, n, pivot);
    cudaGetLastError();
    scan_tile_counts<<<1, kScanThreads, 0, stream>>>(tile_counts, tile_count, count);
    cudaGetLastError();
    scatter_tiles<<<tile_count, kThreads, 0, stream>>>(in, out, tile_counts, count, n, pivot);
    cudaGetLastError();
}
