// Linear recurrence, rung 3: one pass, in which every tile combines the same tree of maps.
//
// Contract: 0 <= n < 2^31; all arrays aligned to 4 bytes (16 are faster), not overlapping; all
// numbers finite; n = 0 launches nothing. The same bits on every run: who comes first never decides
// what is combined with what. All work goes on `stream`; the workspace holds at least
// 8 + 16.6 * ceil(n / 2048) bytes, aligned to 8. Finishes for any order in which blocks start and
// any number of resident blocks: a tile waits only for tiles drawn before it.
// Method: an item is a map y -> a y + b, with a = 0 where a segment ends, and maps compose
//         (Blelloch, Prefix Sums and Their Applications, 1990). Tiles are drawn from the back. A
//         block composes its tile and publishes the map. The last of every 32 tiles composes their
//         maps and publishes that as well, the last of 32 such groups the map of these, and so on:
//         what lies behind a tile are at most 31 maps per level, the digits of its number to base
//         32, and one warp reads a level at a time. An entry is written once and never changes, so
//         its two words can be read one by one.
// Moves: 12 bytes in, 4 bytes out per element, 16 bytes of maps per 2048.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kVector = 4; // items in the widest load, 16 bytes
constexpr int kRows = 2;   // such loads per thread and array, all under way at once
constexpr int kTile = kThreads * kRows * kVector;
constexpr int kFan = kLanes; // entries that make one of the next level: a lane for each

// ---- item ----

// y -> a y + b: what one item, or a stretch of items, makes of what comes behind it.
struct Step {
    float a, b;
};

__device__ __forceinline__ Step identity()
{
    return {1, 0};
}

// `first` is applied first: it lies behind `then` in the arrays.
__device__ __forceinline__ Step combine(Step first, Step then)
{
    return {then.a * first.a, then.a * first.b + then.b};
}

// ---- lane and warp ----

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

__device__ __forceinline__ Step warp_step_of(Step own, int lane)
{
    return {__shfl_sync(kAllLanes, own.a, lane), __shfl_sync(kAllLanes, own.b, lane)};
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

// Maps have no inverse: the own one is left out by moving one lane on.
__device__ __forceinline__ Step warp_exclusive_of(Step inclusive)
{
    const Step before = warp_step_before(inclusive, 1);
    return lane_index() == 0 ? identity() : before;
}

// ---- what tiles tell each other: a 64-bit word {is there : 32, a or b : 32} each, read and
// written
//      at once: no fence is needed between a number and the flag that announces it ----

struct Level {
    unsigned long long *words; // entry i of level k: the map of the tiles [i, i + 1) * kFan^k
    int count;                 // of complete entries

    __device__ Level above() const
    {
        return {words + 2 * size_t(count), count / kFan};
    }
    // Pairs with wait().
    __device__ void publish(int entry, Step step) const
    {
        store(entry, step.a);
        store(count + entry, step.b);
    }
    // Spins until the entry is there. Only for tiles drawn earlier.
    __device__ Step wait(int entry) const
    {
        unsigned long long a, b;
        do {
            a = load(entry);
            b = load(count + entry);
        } while (a >> 32 == 0 || b >> 32 == 0);
        return {__uint_as_float(unsigned(a)), __uint_as_float(unsigned(b))};
    }

  private:
    __device__ void store(int at, float number) const
    {
        const unsigned long long word = 1ull << 32 | __float_as_uint(number);
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :
                     : "l"(words + at), "l"(word)
                     : "memory");
    }
    __device__ unsigned long long load(int at) const
    {
        unsigned long long word;
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                     : "=l"(word)
                     : "l"(words + at)
                     : "memory");
        return word;
    }
};

// Publishes the map of `tile`, and of every group that it completes; returns the map of all tiles
// behind it. Called by one whole warp.
__device__ __forceinline__ Step warp_look_back(Level level, int tile, Step step)
{
    Step behind_tile = identity();
    bool completes = true; // `step` is all of this level's entry
    for (int entry = tile;; entry /= kFan) {
        if (completes && lane_index() == 0)
            level.publish(entry, step);
        if (entry == 0)
            return behind_tile;
        const int digit = entry % kFan;
        Step of_lane = identity();
        if (lane_index() < digit)
            of_lane = level.wait(entry - digit + lane_index());
        const Step behind = warp_step_of(warp_inclusive_scan(of_lane), kLanes - 1);
        behind_tile = combine(behind, behind_tile);
        step = combine(behind, step);
        completes = completes && digit == kFan - 1;
        level = level.above();
    }
}

// ---- tile: warp w owns kRows rows of 128 consecutive items, lane l 4 neighbours of each. Tiles,
//      warps, rows, lanes and neighbours count from the back ----

struct Arrays {
    const int *keys;
    const float *x, *decay;
    float *y;

    bool are_aligned() const
    {
        const void *all[] = {keys, x, decay, y};
        for (const void *p : all)
            if (reinterpret_cast<size_t>(p) % sizeof(float4) != 0)
                return false;
        return true;
    }
};

// kWide: all arrays are aligned to 16 bytes.
template <bool kWide> struct TileItems {
    Step items[kRows][kVector];
    Step behind_row[kRows]; // what lies behind this lane's neighbours, within the warp
    unsigned tile_first;    // index of the first item; the last tile may reach past 2^31
    unsigned n;
    bool is_whole;

    __device__ __forceinline__ TileItems(int tile_from_front, int item_count)
        : tile_first(unsigned(tile_from_front) * kTile), n(unsigned(item_count)),
          is_whole(tile_first + kTile <= n)
    {
    }
    // The one of the neighbours that stands first in the arrays, and comes last here.
    __device__ __forceinline__ unsigned first_of(int row) const
    {
        const int chunk = (warp_index() * kRows + row) * kLanes + lane_index();
        return tile_first + unsigned(kTile - (chunk + 1) * kVector);
    }
    // The last item of a segment forgets what comes behind it.
    __device__ __forceinline__ void load(const Arrays &arrays)
    {
#pragma unroll
        for (int row = 0; row < kRows; row++) {
            const unsigned first = first_of(row);
            if (kWide && is_whole) {
                const int4 key = *reinterpret_cast<const int4 *>(arrays.keys + first);
                const float4 x = *reinterpret_cast<const float4 *>(arrays.x + first);
                const float4 decay = *reinterpret_cast<const float4 *>(arrays.decay + first);
                const bool goes_on = first + 4 < n && arrays.keys[first + 4] == key.w;
                items[row][0] = {goes_on ? decay.w : 0.0f, x.w};
                items[row][1] = {key.w == key.z ? decay.z : 0.0f, x.z};
                items[row][2] = {key.z == key.y ? decay.y : 0.0f, x.y};
                items[row][3] = {key.y == key.x ? decay.x : 0.0f, x.x};
                continue;
            }
#pragma unroll
            for (int k = 0; k < kVector; k++) {
                const unsigned i = first + unsigned(kVector - 1 - k);
                items[row][k] = identity();
                if (i < n) {
                    const bool goes_on = i + 1 < n && arrays.keys[i + 1] == arrays.keys[i];
                    items[row][k] = {goes_on ? arrays.decay[i] : 0.0f, arrays.x[i]};
                }
            }
        }
    }
    // Fills behind_row; returns the map of the warp.
    __device__ __forceinline__ Step warp_scan()
    {
        Step behind = identity();
#pragma unroll
        for (int row = 0; row < kRows; row++) {
            Step step = items[row][0];
#pragma unroll
            for (int k = 1; k < kVector; k++)
                step = combine(step, items[row][k]);
            const Step inclusive = warp_inclusive_scan(step);
            behind_row[row] = combine(behind, warp_exclusive_of(inclusive));
            behind = combine(behind, warp_step_of(inclusive, kLanes - 1));
        }
        return behind;
    }
    __device__ __forceinline__ void store(const Arrays &arrays, Step behind_warp) const
    {
#pragma unroll
        for (int row = 0; row < kRows; row++) {
            const unsigned first = first_of(row);
            // Behind the last item there is nothing, so a map of all that is behind is its b.
            float y[kVector], next = combine(behind_warp, behind_row[row]).b;
#pragma unroll
            for (int k = 0; k < kVector; k++)
                y[k] = next = items[row][k].a * next + items[row][k].b;
            if (kWide && is_whole) {
                *reinterpret_cast<float4 *>(arrays.y + first) = make_float4(y[3], y[2], y[1], y[0]);
                continue;
            }
#pragma unroll
            for (int k = 0; k < kVector; k++) {
                const unsigned i = first + unsigned(kVector - 1 - k);
                if (i < n)
                    arrays.y[i] = y[k];
            }
        }
    }
};

// ---- kernel ----

template <bool kWide>
__global__ void __launch_bounds__(kThreads)
    scan_tiles(Arrays arrays, int n, unsigned *next_tile, Level tiles)
{
    __shared__ int drawn_tile;
    __shared__ Step warp_steps[kWarps]; // then what lies behind each warp

    // Draw a tile. Partner: the same atomicAdd in every other block; memset to 0 before the launch.
    if (threadIdx.x == 0)
        drawn_tile = int(atomicAdd(next_tile, 1u));
    __syncthreads();
    const int tile = drawn_tile;

    TileItems<kWide> items(int(gridDim.x) - 1 - tile, n);
    items.load(arrays);
    const Step step = items.warp_scan();
    if (lane_index() == 0)
        warp_steps[warp_index()] = step;
    __syncthreads();

    // The first warp combines the warps, tells other tiles and asks them.
    if (warp_index() == 0) {
        const Step inclusive =
            warp_inclusive_scan(lane_index() < kWarps ? warp_steps[lane_index()] : identity());
        const Step behind_tile = warp_look_back(tiles, tile, warp_step_of(inclusive, kLanes - 1));
        const Step behind_warp = combine(behind_tile, warp_exclusive_of(inclusive));
        if (lane_index() < kWarps)
            warp_steps[lane_index()] = behind_warp;
    }
    __syncthreads();
    items.store(arrays, warp_steps[warp_index()]);
}

extern "C" void linear_recurrence(const int *keys, const float *x, const float *decay, float *y,
                                  int n, void *workspace, size_t workspace_bytes,
                                  cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const Arrays arrays = {keys, x, decay, y};
    const int tile_count = (n - 1) / kTile + 1;
    // One word for the ticket, then the levels; all zero before the launch.
    auto *words = static_cast<unsigned long long *>(workspace);
    size_t word_count = 1;
    for (int entries = tile_count; entries > 0; entries /= kFan)
        word_count += 2 * size_t(entries);
    cudaMemsetAsync(words, 0, sizeof(*words) * word_count, stream);
    cudaGetLastError();
    auto *next_tile = reinterpret_cast<unsigned *>(words);
    const Level tiles = {words + 1, tile_count};
    if (arrays.are_aligned())
        scan_tiles<true><<<tile_count, kThreads, 0, stream>>>(arrays, n, next_tile, tiles);
    else
        scan_tiles<false><<<tile_count, kThreads, 0, stream>>>(arrays, n, next_tile, tiles);
    cudaGetLastError();
}
