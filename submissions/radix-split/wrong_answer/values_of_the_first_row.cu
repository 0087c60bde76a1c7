// expect: wrong_answer
// Moves the keys of four rows, each with the value that belongs to the key in the first.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 4;
constexpr int kTile = kThreads * kRows;
constexpr int kScanThreads = 1024;

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

// ---- tile: warp w owns kRows rows of 32 consecutive pairs, so order is row by row ----

struct TileKeys {
    unsigned keys[kRows];
    unsigned zeros[kRows]; // per row: the lanes whose key has a 0
    int zero_count;        // of this warp, in all rows
};

// Unsigned: the last tile may reach past 2^31.
__device__ __forceinline__ unsigned tile_index(int row)
{
    return blockIdx.x * unsigned{kTile} + (warp_index() * kRows + row) * kLanes + lane_index();
}

__device__ __forceinline__ TileKeys tile_load(const unsigned *keys, int n, int bit)
{
    TileKeys tile;
    tile.zero_count = 0;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = tile_index(row);
        const bool valid = i < unsigned(n);
        tile.keys[row] = valid ? keys[i] : 0;
        tile.zeros[row] = __ballot_sync(kAllLanes, valid && (tile.keys[row] >> bit & 1) == 0);
        tile.zero_count += __popc(tile.zeros[row]);
    }
    return tile;
}

// ---- kernels ----

__global__ void __launch_bounds__(kThreads)
    count_tiles(const unsigned *keys, int *tile_counts, int n, int bit)
{
    const TileKeys tile = tile_load(keys, n, bit);
    int zeros;
    block_count_before(tile.zero_count, zeros);
    if (threadIdx.x == 0)
        tile_counts[blockIdx.x] = zeros;
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
    scatter_tiles(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                  unsigned *values_out, const int *zeros_before_tiles, const int *zeros, int n,
                  int bit)
{
    const TileKeys tile = tile_load(keys, n, bit);
    int tile_zeros;
    int zeros_before =
        zeros_before_tiles[blockIdx.x] + block_count_before(tile.zero_count, tile_zeros);
    const int first_one = *zeros;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned i = tile_index(row);
        const int before = zeros_before + lane_rank(tile.zeros[row]); // zeros before pair i
        const bool zero = tile.zeros[row] >> lane_index() & 1;
        const int place = zero ? before : first_one + (int(i) - before);
        if (i < unsigned(n)) {
            keys_out[place] = tile.keys[row];
            values_out[place] = values[tile_index(0)];
        }
        zeros_before += __popc(tile.zeros[row]);
    }
}

extern "C" void radix_split(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                            unsigned *values_out, int n, int bit, void *workspace,
                            size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kTile + 1;
    int *zeros = static_cast<int *>(workspace);
    int *tile_counts = zeros + 1;
    count_tiles<<<tile_count, kThreads, 0, stream>>>(keys, tile_counts, n, bit);
    cudaGetLastError();
    scan_tile_counts<<<1, kScanThreads, 0, stream>>>(tile_counts, tile_count, zeros);
    cudaGetLastError();
    scatter_tiles<<<tile_count, kThreads, 0, stream>>>(keys, values, keys_out, values_out,
                                                       tile_counts, zeros, n, bit);
    cudaGetLastError();
}
