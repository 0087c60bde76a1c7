// Radix sort, rung 1: a stable split for each bit.
//
// Contract: 0 <= n < 2^31; arrays of n items, aligned to 4 bytes, not overlapping; ascending by
// unsigned key, pairs with equal keys in the order of the input; the inputs stay unchanged; n = 0
// launches nothing. The same bits on every run. All work goes on `stream`; the workspace holds at
// least 8 * n + 4 + 4 * ceil(n / 256) bytes, aligned to 4.
// Method: for each bit from the lowest: count the zeros of each tile; one block scans the counts;
//         zeros go to the front, ones behind all zeros, both in order. Passes alternate between
//         workspace and outputs; the 32nd writes the outputs.
// Moves: 12 bytes in, 8 bytes out per pair and bit: 640 bytes in all.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
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

// ---- kernels ----

__device__ __forceinline__ bool is_zero(const unsigned *keys, int n, int bit, unsigned i)
{
    return i < unsigned(n) && (keys[i] >> bit & 1) == 0;
}

__global__ void __launch_bounds__(kThreads)
    count_zeros(const unsigned *keys, int *tile_counts, int n, int bit)
{
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    int zeros;
    block_count_before(__popc(__ballot_sync(kAllLanes, is_zero(keys, n, bit, i))), zeros);
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
    split(const unsigned *keys, const unsigned *values, unsigned *keys_out, unsigned *values_out,
          const int *zeros_before_tiles, const int *zeros, int n, int bit)
{
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    const unsigned votes = __ballot_sync(kAllLanes, is_zero(keys, n, bit, i));
    int tile_zeros;
    const int before = zeros_before_tiles[blockIdx.x] +
                       block_count_before(__popc(votes), tile_zeros) + lane_rank(votes);
    if (i >= unsigned(n))
        return;
    const bool zero = votes >> lane_index() & 1;
    const int place = zero ? before : *zeros + (int(i) - before);
    keys_out[place] = keys[i];
    values_out[place] = values[i];
}

extern "C" void radix_sort(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                           unsigned *values_out, int n, void *workspace, size_t workspace_bytes,
                           cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kThreads + 1;
    unsigned *other_keys = static_cast<unsigned *>(workspace), *other_values = other_keys + n;
    int *zeros = reinterpret_cast<int *>(other_values + n), *tile_counts = zeros + 1;
    for (int bit = 0; bit < 32; bit++) {
        unsigned *to_keys = bit % 2 == 0 ? other_keys : keys_out;
        unsigned *to_values = bit % 2 == 0 ? other_values : values_out;
        count_zeros<<<tile_count, kThreads, 0, stream>>>(keys, tile_counts, n, bit);
        cudaGetLastError();
        scan_tile_counts<<<1, kScanThreads, 0, stream>>>(tile_counts, tile_count, zeros);
        cudaGetLastError();
        split<<<tile_count, kThreads, 0, stream>>>(keys, values, to_keys, to_values, tile_counts,
                                                   zeros, n, bit);
        cudaGetLastError();
        keys = to_keys;
        values = to_values;
    }
}
