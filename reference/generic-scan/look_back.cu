// Generic scan, rung 3: both scans in one pass, with sums that tiles publish level by level.
//
// Contract: 0 <= n < 2^31; arrays of n items, aligned to 4 bytes (16 are faster), not overlapping;
// exclusive: element 0 of the outputs is the identity (INT_MIN; scale 1, shift 0); maps wrap modulo
// 2^32; n = 0 launches nothing. The same bits on every run. All work goes on `stream`; the
// workspace holds at least 8 + 25 * ceil(n / 2048) bytes, aligned to 8. Finishes for any order in
// which blocks start and any number of resident blocks: a tile waits only for tiles drawn before
// it.
// Method: two operators side by side are one operator, whose values are pairs: so one scan is
//         enough. A block draws a tile, scans it and publishes its total. The last tile of every 32
//         combines their totals and publishes that as well, the last of 32 such groups the total of
//         these, and so on: what stands before a tile are at most 31 totals per level, the digits
//         of its number to base 32, and one warp reads a level at a time. An entry is written once
//         and never changes, so its words can be read one by one; in a look-back that replaces a
//         tile's total by its inclusive prefix (Merrill and Garland, 2016) they could not.
// Moves: 12 bytes in, 12 bytes out per element, 24 bytes of totals per 2048.
// Measured on an H200, cold cache: 0.45 of the speed of a copy at 2^24 elements and 0.64 of the
// time of rung 2; 8.4 us at 2^16, where rung 2 takes 18.

#include <climits>
#include <cstring>
#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256; // 8 warps: short barriers, many blocks per SM
constexpr int kWarps = kThreads / kLanes;
constexpr int kVector = 4;             // items in the widest load, 16 bytes
constexpr int kRows = 2;               // such loads per thread and array, all under way at once
constexpr int kRow = kLanes * kVector; // what a warp loads in one go
constexpr int kTile = kThreads * kRows * kVector;
constexpr int kFan = kLanes; // entries that make one of the next level: a lane for each

// ---- operators: combine(earlier, later) and identity() ----

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

template <class A, class B> struct Both {
    struct Value {
        typename A::Value a;
        typename B::Value b;
    };
    static __device__ Value identity()
    {
        return {A::identity(), B::identity()};
    }
    static __device__ Value combine(const Value &earlier, const Value &later)
    {
        return {A::combine(earlier.a, later.a), B::combine(earlier.b, later.b)};
    }
};

using Op = Both<Max, Compose>;
using Value = Op::Value;

// ---- lane and warp ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

// A value as what shuffles and memory words hold.
struct Words {
    static constexpr int kCount = sizeof(Value) / sizeof(unsigned);
    static_assert(sizeof(Value) % sizeof(unsigned) == 0, "whole words");
    unsigned word[kCount];

    Words() = default;
    __device__ __forceinline__ explicit Words(const Value &value)
    {
        memcpy(word, &value, sizeof word);
    }
    __device__ __forceinline__ Value value() const
    {
        Value value;
        memcpy(&value, word, sizeof value);
        return value;
    }
};

__device__ __forceinline__ Value warp_value_before(const Value &own, int distance)
{
    Words words(own);
#pragma unroll
    for (int w = 0; w < Words::kCount; w++)
        words.word[w] = __shfl_up_sync(kAllLanes, words.word[w], distance);
    return words.value();
}

__device__ __forceinline__ Value warp_value_of(const Value &own, int lane)
{
    Words words(own);
#pragma unroll
    for (int w = 0; w < Words::kCount; w++)
        words.word[w] = __shfl_sync(kAllLanes, words.word[w], lane);
    return words.value();
}

__device__ __forceinline__ Value warp_inclusive_scan(Value value)
{
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const Value before = warp_value_before(value, distance);
        if (lane_index() >= distance)
            value = Op::combine(before, value);
    }
    return value;
}

// No operator here has an inverse: the own value is left out by moving one lane on.
__device__ __forceinline__ Value warp_exclusive_of(const Value &inclusive)
{
    const Value before = warp_value_before(inclusive, 1);
    return lane_index() == 0 ? Op::identity() : before;
}

// ---- what tiles tell each other: a 64-bit word {is there : 32, word : 32} for each word of a
//      value, read and written at once: no fence is needed between a total and what announces it
//      ----

struct Level {
    unsigned long long *words; // entry i of level k: the total of the tiles [i, i + 1) * kFan^k
    int count;                 // of complete entries

    __device__ Level above() const
    {
        return {words + size_t(count) * Words::kCount, count / kFan};
    }
    // Pairs with wait().
    __device__ void publish(int entry, const Value &total) const
    {
        const Words own(total);
#pragma unroll
        for (int w = 0; w < Words::kCount; w++)
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                         :
                         : "l"(words + size_t(w) * count + entry), "l"(1ull << 32 | own.word[w])
                         : "memory");
    }
    // Spins until all words of the entry are there. Only for tiles drawn earlier.
    __device__ Value wait(int entry) const
    {
        Words found;
        bool missing;
        do {
            missing = false;
#pragma unroll
            for (int w = 0; w < Words::kCount; w++) {
                unsigned long long word;
                asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                             : "=l"(word)
                             : "l"(words + size_t(w) * count + entry)
                             : "memory");
                found.word[w] = unsigned(word);
                missing |= word >> 32 == 0;
            }
        } while (missing);
        return found.value();
    }
};

// Publishes the total of `tile`, and of every group that it completes; returns what all tiles
// before it come to. Called by one whole warp.
__device__ __forceinline__ Value warp_look_back(Level level, int tile, Value total)
{
    Value before_tile = Op::identity();
    bool completes = true; // `total` is all of this level's entry
    for (int entry = tile;; entry /= kFan) {
        if (completes && lane_index() == 0)
            level.publish(entry, total);
        if (entry == 0)
            return before_tile;
        const int digit = entry % kFan;
        Value of_lane = Op::identity();
        if (lane_index() < digit)
            of_lane = level.wait(entry - digit + lane_index());
        const Value before = warp_value_of(warp_inclusive_scan(of_lane), kLanes - 1);
        before_tile = Op::combine(before, before_tile);
        total = Op::combine(before, total);
        completes = completes && digit == kFan - 1;
        level = level.above();
    }
}

// ---- arrays: four neighbours at a time where that is possible ----

struct Arrays {
    const int *values;
    const unsigned *scale, *shift;
    int *max_before;
    unsigned *composed_scale, *composed_shift;

    __device__ __forceinline__ Value load(unsigned i) const
    {
        return {values[i], {scale[i], shift[i]}};
    }
    __device__ __forceinline__ void store(unsigned i, const Value &value) const
    {
        max_before[i] = value.a;
        composed_scale[i] = value.b.scale;
        composed_shift[i] = value.b.shift;
    }
    __device__ __forceinline__ void load_four(unsigned i, Value (&four)[kVector]) const
    {
        const int4 v = *reinterpret_cast<const int4 *>(values + i);
        const uint4 a = *reinterpret_cast<const uint4 *>(scale + i);
        const uint4 b = *reinterpret_cast<const uint4 *>(shift + i);
        four[0] = {v.x, {a.x, b.x}};
        four[1] = {v.y, {a.y, b.y}};
        four[2] = {v.z, {a.z, b.z}};
        four[3] = {v.w, {a.w, b.w}};
    }
    __device__ __forceinline__ void store_four(unsigned i, const Value (&four)[kVector]) const
    {
        *reinterpret_cast<int4 *>(max_before + i) =
            make_int4(four[0].a, four[1].a, four[2].a, four[3].a);
        *reinterpret_cast<uint4 *>(composed_scale + i) =
            make_uint4(four[0].b.scale, four[1].b.scale, four[2].b.scale, four[3].b.scale);
        *reinterpret_cast<uint4 *>(composed_shift + i) =
            make_uint4(four[0].b.shift, four[1].b.shift, four[2].b.shift, four[3].b.shift);
    }
    bool are_aligned() const
    {
        const void *all[] = {values, scale, shift, max_before, composed_scale, composed_shift};
        for (const void *p : all)
            if (reinterpret_cast<size_t>(p) % sizeof(int4) != 0)
                return false;
        return true;
    }
};

// ---- tile: warp w owns kRows rows of 128 consecutive items, lane l 4 neighbours of each ----

// Unsigned: the last tile may reach past 2^31.
__device__ __forceinline__ unsigned tile_index(int tile, int row)
{
    return unsigned(tile) * kTile + unsigned(warp_index() * kRows + row) * kRow +
           unsigned(lane_index() * kVector);
}

// kWide: all arrays are aligned to 16 bytes.
template <bool kWide> struct TileItems {
    Value items[kRows][kVector];
    Value before_row[kRows]; // what stands before this lane's neighbours, within the warp

    __device__ __forceinline__ void load(const Arrays &arrays, int tile, unsigned n)
    {
        const bool is_whole = unsigned(tile + 1) * kTile <= n;
#pragma unroll
        for (int row = 0; row < kRows; row++) {
            const unsigned first = tile_index(tile, row);
            if (kWide && is_whole) {
                arrays.load_four(first, items[row]);
                continue;
            }
#pragma unroll
            for (int k = 0; k < kVector; k++)
                items[row][k] = first + k < n ? arrays.load(first + k) : Op::identity();
        }
    }
    // Fills before_row; returns the total of the warp.
    __device__ __forceinline__ Value warp_scan()
    {
        Value before = Op::identity();
#pragma unroll
        for (int row = 0; row < kRows; row++) {
            Value total = items[row][0];
#pragma unroll
            for (int k = 1; k < kVector; k++)
                total = Op::combine(total, items[row][k]);
            const Value inclusive = warp_inclusive_scan(total);
            before_row[row] = Op::combine(before, warp_exclusive_of(inclusive));
            before = Op::combine(before, warp_value_of(inclusive, kLanes - 1));
        }
        return before;
    }
    __device__ __forceinline__ void store(const Arrays &arrays, int tile, unsigned n,
                                          const Value &before_warp) const
    {
        const bool is_whole = unsigned(tile + 1) * kTile <= n;
#pragma unroll
        for (int row = 0; row < kRows; row++) {
            const unsigned first = tile_index(tile, row);
            Value running = Op::combine(before_warp, before_row[row]), scanned[kVector];
#pragma unroll
            for (int k = 0; k < kVector; k++) {
                scanned[k] = running;
                running = Op::combine(running, items[row][k]);
            }
            if (kWide && is_whole) {
                arrays.store_four(first, scanned);
                continue;
            }
#pragma unroll
            for (int k = 0; k < kVector; k++)
                if (first + k < n)
                    arrays.store(first + k, scanned[k]);
        }
    }
};

// ---- kernel ----

template <bool kWide>
__global__ void __launch_bounds__(kThreads)
    scan_tiles(Arrays arrays, int n, unsigned *next_tile, Level tiles)
{
    __shared__ int drawn_tile;
    __shared__ Value warp_totals[kWarps]; // then what stands before each warp

    // Draw a tile. Partner: the same atomicAdd in every other block; memset to 0 before the launch.
    if (threadIdx.x == 0)
        drawn_tile = int(atomicAdd(next_tile, 1u));
    __syncthreads();
    const int tile = drawn_tile;

    TileItems<kWide> items;
    items.load(arrays, tile, unsigned(n));
    const Value total = items.warp_scan();
    if (lane_index() == 0)
        warp_totals[warp_index()] = total;
    __syncthreads();

    // The first warp combines the warps, tells other tiles and asks them.
    if (warp_index() == 0) {
        const Value inclusive =
            warp_inclusive_scan(lane_index() < kWarps ? warp_totals[lane_index()] : Op::identity());
        const Value before_tile = warp_look_back(tiles, tile, warp_value_of(inclusive, kLanes - 1));
        const Value before_warp = Op::combine(before_tile, warp_exclusive_of(inclusive));
        if (lane_index() < kWarps)
            warp_totals[lane_index()] = before_warp;
    }
    __syncthreads();
    items.store(arrays, tile, unsigned(n), warp_totals[warp_index()]);
}

extern "C" void generic_scan(const int *values, int *max_before, const unsigned *scale,
                             const unsigned *shift, unsigned *composed_scale,
                             unsigned *composed_shift, int n, void *workspace,
                             size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const Arrays arrays = {values, scale, shift, max_before, composed_scale, composed_shift};
    const int tile_count = (n - 1) / kTile + 1;
    // One word for the ticket, then the levels; all zero before the launch.
    auto *words = static_cast<unsigned long long *>(workspace);
    size_t word_count = 1;
    for (int entries = tile_count; entries > 0; entries /= kFan)
        word_count += size_t(entries) * Words::kCount;
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
