// expect: wrong_answer
// Puts the maps together in the wrong order: right only while all of them are alike.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kItems = 8; // consecutive, so that a thread combines in order
constexpr int kTile = kThreads * kItems;

// ---- item ----

// y -> a y + b: what one item, or a stretch of items, makes of what comes behind it.
struct Step {
    float a, b;
};

// `first` is applied first: it lies behind `then` in the arrays.
__device__ __forceinline__ Step combine(Step first, Step then)
{
    return {then.a * first.a, first.a * then.b + first.b};
}

// Item r from the back. The last item of a segment forgets what comes behind it.
__device__ __forceinline__ Step load_step(const int *keys, const float *x, const float *decay,
                                          int n, unsigned r)
{
    if (r >= unsigned(n))
        return {1, 0}; // changes nothing
    const int i = n - 1 - int(r);
    const bool goes_on = i + 1 < n && keys[i + 1] == keys[i];
    return {goes_on ? decay[i] : 0.0f, x[i]};
}

// ---- lane, warp, block ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

__device__ __forceinline__ Step warp_step_before(Step own, int distance)
{
    return {__shfl_up_sync(kAllLanes, own.a, distance), __shfl_up_sync(kAllLanes, own.b, distance)};
}

__device__ __forceinline__ Step warp_inclusive_scan(Step step)
{
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const Step before = warp_step_before(step, distance);
        if (lane_index() >= distance)
            step = combine(before, step);
    }
    return step;
}

// The map of the threads before this one, and of the whole block. Every thread of a block of
// kThreads calls it; ends with a barrier, so that it can be called again.
__device__ __forceinline__ Step block_exclusive_scan(Step own, Step &total)
{
    __shared__ Step warp_steps[kWarps];
    const Step inclusive = warp_inclusive_scan(own);
    if (lane_index() == kLanes - 1)
        warp_steps[warp_index()] = inclusive;
    __syncthreads();
    Step before_warp = {1, 0};
    total = {1, 0};
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        if (warp == warp_index())
            before_warp = total;
        total = combine(total, warp_steps[warp]);
    }
    const Step before_lane = warp_step_before(inclusive, 1);
    __syncthreads();
    return lane_index() == 0 ? before_warp : combine(before_warp, before_lane);
}

// ---- tile: thread t owns the kItems consecutive items from t * kItems on, from the back ----

struct TileItems {
    Step items[kItems];
    Step total; // of this thread's items

    __device__ __forceinline__ TileItems(const int *keys, const float *x, const float *decay, int n)
    {
        total = {1, 0};
#pragma unroll
        for (int k = 0; k < kItems; k++) {
            items[k] = load_step(keys, x, decay, n, index(k));
            total = combine(total, items[k]);
        }
    }
    // Unsigned: the last tile may reach past 2^31.
    static __device__ __forceinline__ unsigned index(int k)
    {
        return (blockIdx.x * unsigned{kThreads} + threadIdx.x) * kItems + unsigned(k);
    }
};

// ---- kernels ----

__global__ void __launch_bounds__(kThreads)
    reduce_tiles(const int *keys, const float *x, const float *decay, int n, Step *tile_steps)
{
    const TileItems tile(keys, x, decay, n);
    Step total;
    block_exclusive_scan(tile.total, total);
    if (threadIdx.x == 0)
        tile_steps[blockIdx.x] = total;
}

// One block turns the maps of tiles into the map of all that is behind each.
__global__ void __launch_bounds__(kThreads) scan_tile_steps(Step *tile_steps, int tile_count)
{
    Step carry = {1, 0}; // the same in every thread
    for (int first = 0; first < tile_count; first += kThreads) {
        const int tile = first + threadIdx.x;
        const Step own = tile < tile_count ? tile_steps[tile] : Step{1, 0};
        Step total;
        const Step before = block_exclusive_scan(own, total);
        if (tile < tile_count)
            tile_steps[tile] = combine(carry, before);
        carry = combine(carry, total);
    }
}

__global__ void __launch_bounds__(kThreads)
    scan_tiles(const int *keys, const float *x, const float *decay, float *y, int n,
               const Step *behind_tiles)
{
    const TileItems tile(keys, x, decay, n);
    Step total;
    const Step before_thread = block_exclusive_scan(tile.total, total);
    // Behind the last item there is nothing, so a map of all that is behind is its b.
    float next = combine(behind_tiles[blockIdx.x], before_thread).b;
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        const unsigned r = TileItems::index(k);
        next = tile.items[k].a * next + tile.items[k].b;
        if (r < unsigned(n))
            y[n - 1 - int(r)] = next;
    }
}

extern "C" void linear_recurrence(const int *keys, const float *x, const float *decay, float *y,
                                  int n, void *workspace, size_t workspace_bytes,
                                  cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kTile + 1;
    Step *tile_steps = static_cast<Step *>(workspace);
    reduce_tiles<<<tile_count, kThreads, 0, stream>>>(keys, x, decay, n, tile_steps);
    cudaGetLastError();
    scan_tile_steps<<<1, kThreads, 0, stream>>>(tile_steps, tile_count);
    cudaGetLastError();
    scan_tiles<<<tile_count, kThreads, 0, stream>>>(keys, x, decay, y, n, tile_steps);
    cudaGetLastError();
}
