// Float scan, rung 2: reduce the tiles, scan their sums, scan the tiles from what stands before.
//
// Contract: 0 <= n < 2^31; `in` and `out` aligned to 4 bytes, not overlapping; inclusive;
// infinities of one sign and no NaN; n = 0 launches nothing. The same bits on every run. All work
// goes on `stream`; the workspace holds at least 4 * ceil(n / 2048) bytes, aligned to 4.
// Method: 1. reduce_tiles: the sum of each tile. 2. scan_tile_sums: one block, 256 sums at a time.
//         3. scan_tiles: read again, add in the same order as before, write once. The longest
//         chain of additions is 8 + 5 + 8 + n / 524288, far inside the bound.
// Moves: 8 bytes in, 4 bytes out per element.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kItems = 8; // consecutive: a chain of 8 additions, then trees
constexpr int kTile = kThreads * kItems;

// ---- lane, warp, block ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

__device__ __forceinline__ float warp_inclusive_sum(float value)
{
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const float before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

// The sum of the threads before this one, and of the whole block. Nothing is subtracted: what an
// infinity swallowed does not come back. Every thread of a block of kThreads calls it; ends with a
// barrier, so that it can be called again.
__device__ __forceinline__ float block_exclusive_sum(float value, float &total)
{
    __shared__ float warp_sums[kWarps];
    const float inclusive = warp_inclusive_sum(value);
    if (lane_index() == kLanes - 1)
        warp_sums[warp_index()] = inclusive;
    __syncthreads();
    float before_warp = 0;
    total = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        if (warp == warp_index())
            before_warp = total;
        total += warp_sums[warp];
    }
    const float before_lane = __shfl_up_sync(kAllLanes, inclusive, 1);
    __syncthreads();
    return lane_index() == 0 ? before_warp : before_warp + before_lane;
}

// ---- tile: thread t owns the kItems consecutive items from t * kItems on ----

struct TileItems {
    float sums[kItems]; // running, within the thread

    __device__ __forceinline__ TileItems(const float *in, int n)
    {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < kItems; k++) {
            const unsigned i = index(k);
            sum += i < unsigned(n) ? in[i] : 0.0f;
            sums[k] = sum;
        }
    }
    // Unsigned: the last tile may reach past 2^31.
    static __device__ __forceinline__ unsigned index(int k)
    {
        return (blockIdx.x * unsigned{kThreads} + threadIdx.x) * kItems + unsigned(k);
    }
};

// ---- kernels ----

__global__ void __launch_bounds__(kThreads) reduce_tiles(const float *in, float *tile_sums, int n)
{
    const TileItems tile(in, n);
    float total;
    block_exclusive_sum(tile.sums[kItems - 1], total);
    if (threadIdx.x == 0)
        tile_sums[blockIdx.x] = total;
}

// One block turns the sums of tiles into what stands before each. The carry is the longest chain of
// all: one addition per 256 tiles.
__global__ void __launch_bounds__(kThreads) scan_tile_sums(float *tile_sums, int tile_count)
{
    float carry = 0; // the same in every thread
    for (int first = 0; first < tile_count; first += kThreads) {
        const int tile = first + threadIdx.x;
        const float own = tile < tile_count ? tile_sums[tile] : 0.0f;
        float total;
        const float before = block_exclusive_sum(own, total);
        if (tile < tile_count)
            tile_sums[tile] = carry + before;
        carry += total;
    }
}

__global__ void __launch_bounds__(kThreads)
    scan_tiles(const float *in, float *out, const float *before_tiles, int n)
{
    const TileItems tile(in, n);
    float total;
    const float before_thread = block_exclusive_sum(tile.sums[kItems - 1], total);
    const float before = before_tiles[blockIdx.x] + before_thread;
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        const unsigned i = TileItems::index(k);
        if (i < unsigned(n))
            out[i] = before + tile.sums[k];
    }
}

extern "C" void float_scan(const float *in, float *out, int n, void *workspace,
                           size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kTile + 1;
    float *tile_sums = static_cast<float *>(workspace);
    reduce_tiles<<<tile_count, kThreads, 0, stream>>>(in, tile_sums, n);
    cudaGetLastError();
    scan_tile_sums<<<1, kThreads, 0, stream>>>(tile_sums, tile_count);
    cudaGetLastError();
    scan_tiles<<<tile_count, kThreads, 0, stream>>>(in, out, tile_sums, n);
    cudaGetLastError();
}
