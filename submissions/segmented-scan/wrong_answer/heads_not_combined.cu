// expect: wrong_answer
// Forgets to pass on whether there was a head: sums jump over heads that are further away.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kItems = 1;
constexpr int kTile = kThreads * kItems;

// What a stretch of items passes on: the sum behind its last head, and whether it has one.
struct Stretch {
    int sum;
    int has_head;
};

__device__ __forceinline__ Stretch combine(Stretch earlier, Stretch later)
{
    return {later.has_head ? later.sum : int(unsigned(earlier.sum) + unsigned(later.sum)),
            later.has_head};
}

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

__device__ __forceinline__ Stretch warp_stretch_before(Stretch own, int distance)
{
    return {__shfl_up_sync(kAllLanes, own.sum, distance),
            __shfl_up_sync(kAllLanes, own.has_head, distance)};
}

__device__ __forceinline__ Stretch warp_inclusive_scan(Stretch stretch)
{
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const Stretch before = warp_stretch_before(stretch, distance);
        if (lane_index() >= distance)
            stretch = combine(before, stretch);
    }
    return stretch;
}

// What the threads before this one pass on, and what the whole block does. Every thread of a block
// of kThreads calls it; ends with a barrier, so that it can be called again.
__device__ __forceinline__ Stretch block_exclusive_scan(Stretch own, Stretch &total)
{
    __shared__ Stretch warp_totals[kWarps];
    const Stretch inclusive = warp_inclusive_scan(own);
    if (lane_index() == kLanes - 1)
        warp_totals[warp_index()] = inclusive;
    __syncthreads();
    Stretch before_warp = {0, 0};
    total = {0, 0};
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        if (warp == warp_index())
            before_warp = total;
        total = combine(total, warp_totals[warp]);
    }
    const Stretch before_lane = warp_stretch_before(inclusive, 1);
    __syncthreads();
    return lane_index() == 0 ? before_warp : combine(before_warp, before_lane);
}

// ---- tile: thread t owns the kItems consecutive items from t * kItems on ----

struct TileItems {
    Stretch items[kItems];
    Stretch total; // of this thread's items

    __device__ __forceinline__ TileItems(const int *in, const unsigned char *heads, int n, int tile)
    {
        total = {0, 0};
#pragma unroll
        for (int k = 0; k < kItems; k++) {
            const unsigned i = index(tile, k);
            items[k] = i < unsigned(n) ? Stretch{in[i], heads[i] != 0} : Stretch{0, 0};
            total = combine(total, items[k]);
        }
    }
    // Unsigned: the last tile may reach past 2^31.
    static __device__ __forceinline__ unsigned index(int tile, int k)
    {
        return (unsigned(tile) * kThreads + threadIdx.x) * kItems + unsigned(k);
    }
    __device__ __forceinline__ void store(int *out, int n, int tile, Stretch before) const
    {
#pragma unroll
        for (int k = 0; k < kItems; k++) {
            const unsigned i = index(tile, k);
            before = combine(before, items[k]);
            if (i < unsigned(n))
                out[i] = before.sum;
        }
    }
};

// ---- kernels ----

__global__ void __launch_bounds__(kThreads)
    reduce_tiles(const int *in, const unsigned char *heads, Stretch *tile_totals, int n)
{
    const TileItems tile(in, heads, n, int(blockIdx.x));
    Stretch total;
    block_exclusive_scan(tile.total, total);
    if (threadIdx.x == 0)
        tile_totals[blockIdx.x] = total;
}

// One block turns what tiles pass on into what reaches each of them.
__global__ void __launch_bounds__(kThreads) scan_tile_totals(Stretch *tile_totals, int tile_count)
{
    Stretch carry = {0, 0}; // the same in every thread
    for (int first = 0; first < tile_count; first += kThreads) {
        const int tile = first + threadIdx.x;
        const Stretch own = tile < tile_count ? tile_totals[tile] : Stretch{0, 0};
        Stretch total;
        const Stretch before = block_exclusive_scan(own, total);
        if (tile < tile_count)
            tile_totals[tile] = combine(carry, before);
        carry = combine(carry, total);
    }
}

__global__ void __launch_bounds__(kThreads) scan_tiles(const int *in, const unsigned char *heads,
                                                       int *out, const Stretch *before_tiles, int n)
{
    const TileItems tile(in, heads, n, int(blockIdx.x));
    Stretch total;
    const Stretch before_thread = block_exclusive_scan(tile.total, total);
    tile.store(out, n, int(blockIdx.x), combine(before_tiles[blockIdx.x], before_thread));
}

extern "C" void segmented_scan(const int *in, const unsigned char *heads, int *out, int n,
                               void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kTile + 1;
    Stretch *tile_totals = static_cast<Stretch *>(workspace);
    reduce_tiles<<<tile_count, kThreads, 0, stream>>>(in, heads, tile_totals, n);
    cudaGetLastError();
    scan_tile_totals<<<1, kThreads, 0, stream>>>(tile_totals, tile_count);
    cudaGetLastError();
    scan_tiles<<<tile_count, kThreads, 0, stream>>>(in, heads, out, tile_totals, n);
    cudaGetLastError();
}
