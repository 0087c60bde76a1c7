// Run-length encoding, rung 2: a compaction of heads, and differences.
//
// Contract: 0 <= n < 2^31; arrays of n items, aligned to 4 bytes, not overlapping; runs in the
// order of the input; writes *count also for n = 0; leaves both outputs from *count on as they
// were. The same bits on every run. All work goes on `stream`; the workspace holds at least 4 * n
// + 4 * ceil(n / 2048) bytes, aligned to 4.
// Method: count the heads of each tile by ballot; one block scans the counts, the total is *count;
//         look at the items again: a head writes its value, and its index into the workspace; a
//         last kernel takes the differences of those.
// Moves: 8 bytes in per item; 8 bytes in and 12 out per run.

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

struct TileHeads {
    int values[kRows];
    unsigned heads[kRows]; // per row: the lanes whose item begins a run
    int head_count;        // of this warp, in all rows
};

// Unsigned: the last tile may reach past 2^31.
__device__ __forceinline__ unsigned tile_index(int row)
{
    return blockIdx.x * unsigned{kTile} + (warp_index() * kRows + row) * kLanes + lane_index();
}

__device__ __forceinline__ TileHeads tile_load(const int *in, int n)
{
    TileHeads tile;
    tile.head_count = 0;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = tile_index(row);
        const bool valid = i < unsigned(n);
        const int value = valid ? in[i] : 0;
        int before = __shfl_up_sync(kAllLanes, value, 1);
        if (lane_index() == 0 && valid && i > 0)
            before = in[i - 1]; // of the row before, maybe of another tile
        tile.values[row] = value;
        tile.heads[row] = __ballot_sync(kAllLanes, valid && (i == 0 || value != before));
        tile.head_count += __popc(tile.heads[row]);
    }
    return tile;
}

// ---- kernels ----

__global__ void __launch_bounds__(kThreads) count_tiles(const int *in, int *tile_counts, int n)
{
    const TileHeads tile = tile_load(in, n);
    int heads;
    block_count_before(tile.head_count, heads);
    if (threadIdx.x == 0)
        tile_counts[blockIdx.x] = heads;
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

// Every head writes the value of its run, and where it begins.
__global__ void __launch_bounds__(kThreads)
    write_heads(const int *in, int *values, int *begins, const int *heads_before_tiles, int n)
{
    const TileHeads tile = tile_load(in, n);
    int heads;
    int run = heads_before_tiles[blockIdx.x] + block_count_before(tile.head_count, heads);
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        if (tile.heads[row] >> lane_index() & 1) {
            const int mine = run + lane_rank(tile.heads[row]);
            values[mine] = tile.values[row];
            begins[mine] = int(tile_index(row));
        }
        run += __popc(tile.heads[row]);
    }
}

// The grid covers as many runs as there can be; *count says how many there are.
__global__ void __launch_bounds__(kThreads)
    write_lengths(const int *begins, int *lengths, const int *count, int n)
{
    const unsigned run = blockIdx.x * unsigned{kThreads} + threadIdx.x, runs = unsigned(*count);
    if (run < runs)
        lengths[run] = (run + 1 < runs ? begins[run + 1] : n) - begins[run];
}

extern "C" void run_length_encode(const int *in, int *values, int *lengths, int *count, int n,
                                  void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    const int tile_count = (n - 1) / kTile + 1;
    int *begins = static_cast<int *>(workspace);
    int *tile_counts = begins + n;
    count_tiles<<<tile_count, kThreads, 0, stream>>>(in, tile_counts, n);
    cudaGetLastError();
    scan_tile_counts<<<1, kScanThreads, 0, stream>>>(tile_counts, tile_count, count);
    cudaGetLastError();
    write_heads<<<tile_count, kThreads, 0, stream>>>(in, values, begins, tile_counts, n);
    cudaGetLastError();
    write_lengths<<<(n - 1) / kThreads + 1, kThreads, 0, stream>>>(begins, lengths, count, n);
    cudaGetLastError();
}
