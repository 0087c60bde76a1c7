// Generic scan, rung 2: reduce the tiles, scan their totals, scan the tiles from what stands
// before.
//
// Contract: 0 <= n < 2^31; arrays of n items, aligned to 4 bytes, not overlapping; exclusive:
// element 0 of the outputs is the identity (INT_MIN; scale 1, shift 0); maps wrap modulo 2^32; n =
// 0 launches nothing. The same bits on every run. All work goes on `stream`; the workspace holds
// at least 8 * ceil(n / 1024) bytes, aligned to 8.
// Method: 1. reduce_tiles: what each tile comes to, nothing else is written. 2. scan_tile_totals:
//         one block, 256 totals at a time, carry on the left. 3. scan_tiles: read the items again,
//         scan from what stands before the tile, write once. The operator is a type with
//         combine(earlier, later) and identity(); nothing is ever subtracted, and nothing changes
//         places.
// Moves: 24 bytes in, 12 bytes out per element; scan and propagate takes 24 in and 24 out.

#include <climits>
#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kItems = 4; // consecutive, so that a thread combines in order
constexpr int kTile = kThreads * kItems;

struct Max {
    using Value = int;
    static __device__ Value identity()
    {
        return INT_MIN;
    }
    static __device__ Value combine(Value earlier, Value later)
    {
        return earlier > later ? earlier : later;
    }
};

struct Map {
    unsigned scale, shift;
};

struct Compose {
    using Value = Map;
    static __device__ Value identity()
    {
        return {1, 0};
    }
    static __device__ Value combine(Value earlier, Value later)
    {
        return {later.scale * earlier.scale, later.scale * earlier.shift + later.shift};
    }
};

// Where values come from and where they go: one array, or two side by side.
struct MaxArrays {
    const int *in;
    int *out;
    __device__ int load(int i) const
    {
        return in[i];
    }
    __device__ void store(int i, int value) const
    {
        out[i] = value;
    }
};

struct MapArrays {
    const unsigned *scale, *shift;
    unsigned *composed_scale, *composed_shift;
    __device__ Map load(int i) const
    {
        return {scale[i], shift[i]};
    }
    __device__ void store(int i, Map map) const
    {
        composed_scale[i] = map.scale;
        composed_shift[i] = map.shift;
    }
};

// ---- lane and warp ----

template <class Value> __device__ __forceinline__ Value warp_value_before(Value value, int distance)
{
    return __shfl_up_sync(0xffffffffu, value, distance);
}

template <> __device__ __forceinline__ Map warp_value_before(Map map, int distance)
{
    return {warp_value_before(map.scale, distance), warp_value_before(map.shift, distance)};
}

template <class Op>
__device__ __forceinline__ typename Op::Value warp_inclusive_scan(typename Op::Value value)
{
    const int lane = threadIdx.x % kLanes;
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const typename Op::Value before = warp_value_before(value, distance);
        if (lane >= distance)
            value = Op::combine(before, value);
    }
    return value;
}

// ---- block ----

// What the threads before this one hold together, and what the whole block does. Every thread of a
// block of kThreads calls it; ends with a barrier, so that it can be called again.
template <class Op>
__device__ __forceinline__ typename Op::Value block_exclusive_scan(typename Op::Value value,
                                                                   typename Op::Value &total)
{
    __shared__ typename Op::Value warp_totals[kWarps];
    const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    const typename Op::Value inclusive = warp_inclusive_scan<Op>(value);
    if (lane == kLanes - 1)
        warp_totals[warp] = inclusive;
    __syncthreads();
    typename Op::Value before_warp = Op::identity();
    total = Op::identity();
    for (int w = 0; w < kWarps; w++) {
        if (w == warp)
            before_warp = total;
        total = Op::combine(total, warp_totals[w]);
    }
    // No operator has an inverse here: the own value is left out by moving one lane on.
    const typename Op::Value before_lane = warp_value_before(inclusive, 1);
    __syncthreads();
    return lane == 0 ? before_warp : Op::combine(before_warp, before_lane);
}

// ---- tile: thread t owns the kItems consecutive items from t * kItems on ----

template <class Op, class Arrays> struct TileItems {
    typename Op::Value values[kItems];
    typename Op::Value total; // of this thread's items

    __device__ __forceinline__ TileItems(const Arrays &arrays, int n)
    {
        total = Op::identity();
#pragma unroll
        for (int k = 0; k < kItems; k++) {
            const unsigned i = index(k);
            values[k] = i < unsigned(n) ? arrays.load(int(i)) : Op::identity();
            total = Op::combine(total, values[k]);
        }
    }
    // Unsigned: the last tile may reach past 2^31.
    static __device__ __forceinline__ unsigned index(int k)
    {
        return (blockIdx.x * unsigned{kThreads} + threadIdx.x) * unsigned{kItems} + unsigned(k);
    }
};

// ---- kernels ----

template <class Op, class Arrays>
__global__ void __launch_bounds__(kThreads)
    reduce_tiles(Arrays arrays, typename Op::Value *tile_totals, int n)
{
    const TileItems<Op, Arrays> items(arrays, n);
    typename Op::Value total;
    block_exclusive_scan<Op>(items.total, total);
    if (threadIdx.x == 0)
        tile_totals[blockIdx.x] = total;
}

// One block turns the totals of tiles into what stands before each.
template <class Op>
__global__ void __launch_bounds__(kThreads)
    scan_tile_totals(typename Op::Value *tile_totals, int tile_count)
{
    typename Op::Value carry = Op::identity(); // the same in every thread
    for (int first = 0; first < tile_count; first += kThreads) {
        const int tile = first + threadIdx.x;
        const typename Op::Value own = tile < tile_count ? tile_totals[tile] : Op::identity();
        typename Op::Value total;
        const typename Op::Value before = block_exclusive_scan<Op>(own, total);
        if (tile < tile_count)
            tile_totals[tile] = Op::combine(carry, before);
        carry = Op::combine(carry, total);
    }
}

template <class Op, class Arrays>
__global__ void __launch_bounds__(kThreads)
    scan_tiles(Arrays arrays, const typename Op::Value *before_tiles, int n)
{
    const TileItems<Op, Arrays> items(arrays, n);
    typename Op::Value total;
    const typename Op::Value before_thread = block_exclusive_scan<Op>(items.total, total);
    typename Op::Value running = Op::combine(before_tiles[blockIdx.x], before_thread);
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        const unsigned i = TileItems<Op, Arrays>::index(k);
        if (i < unsigned(n))
            arrays.store(int(i), running);
        running = Op::combine(running, items.values[k]);
    }
}

// ---- host ----

template <class Op, class Arrays>
static void scan(Arrays arrays, typename Op::Value *tile_totals, int n, cudaStream_t stream)
{
    const int tile_count = (n - 1) / kTile + 1;
    reduce_tiles<Op><<<tile_count, kThreads, 0, stream>>>(arrays, tile_totals, n);
    cudaGetLastError();
    scan_tile_totals<Op><<<1, kThreads, 0, stream>>>(tile_totals, tile_count);
    cudaGetLastError();
    scan_tiles<Op><<<tile_count, kThreads, 0, stream>>>(arrays, tile_totals, n);
    cudaGetLastError();
}

extern "C" void generic_scan(const int *values, int *max_before, const unsigned *scale,
                             const unsigned *shift, unsigned *composed_scale,
                             unsigned *composed_shift, int n, void *workspace,
                             size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    // Both scans use the workspace, one after the other.
    scan<Max>(MaxArrays{values, max_before}, static_cast<int *>(workspace), n, stream);
    scan<Compose>(MapArrays{scale, shift, composed_scale, composed_shift},
                  static_cast<Map *>(workspace), n, stream);
}
