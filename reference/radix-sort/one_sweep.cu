// Radix sort, rung 3: every pass reads its pairs once.
//
// Contract: 0 <= n < 2^31; arrays of n items, aligned to 4 bytes, not overlapping; ascending by
// unsigned key, pairs with equal keys in the order of the input; the inputs stay unchanged; n = 0
// launches nothing. The same bits on every run. All work goes on `stream`; the workspace holds at
// least 8 * n + 8192 * ceil(n / 4096) - 4080 bytes, aligned to 8. Finishes for any order in which
// blocks start and any number of resident blocks: a tile waits only for tiles drawn before it.
// Method: one kernel counts the digits of all four passes. In a pass a block draws a tile, ranks
//         its pairs - lanes with the same digit find each other by one ballot per bit - and learns
//         by look-back how many of each digit come before it, a thread per digit. It sorts the tile
//         in shared memory, so that pairs of one digit, which go side by side, are written side by
//         side. (Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for
//         GPUs, 2022.)
// Moves: 4 bytes in per key for the counts; 8 bytes in, 8 bytes out per pair and pass: 68 bytes in
//         all, and 2048 bytes of tile state per 4096 pairs and pass.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kDigitBits = 8; // 4 passes; 256 counters, one per thread
constexpr int kDigits = 1 << kDigitBits;
constexpr int kPasses = 32 / kDigitBits;
constexpr int kThreads = kDigits;
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 16; // pairs per thread: few states to look back on, and long runs of a digit
constexpr int kTile = kThreads * kRows;
constexpr int kCountBlocks = 1024; // at most: enough for any card

// ---- lane and warp ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

__device__ __forceinline__ int digit_of(unsigned key, int shift)
{
    return int(key >> shift) & (kDigits - 1);
}

// The lanes whose digit is the same as this one's.
__device__ __forceinline__ unsigned warp_same_digit(int digit)
{
    unsigned same = kAllLanes;
#pragma unroll
    for (int bit = 0; bit < kDigitBits; bit++) {
        const bool is_set = digit >> bit & 1;
        const unsigned votes = __ballot_sync(kAllLanes, is_set);
        same &= is_set ? votes : ~votes;
    }
    return same;
}

// ---- block ----

// Exclusive prefix sum over the block. Every thread calls it, once.
__device__ __forceinline__ unsigned long long block_exclusive_sum(unsigned long long value)
{
    __shared__ unsigned long long warp_sums[kWarps];
    unsigned long long inclusive = value;
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const unsigned long long before = __shfl_up_sync(kAllLanes, inclusive, distance);
        if (lane_index() >= distance)
            inclusive = before + inclusive;
    }
    if (lane_index() == kLanes - 1)
        warp_sums[warp_index()] = inclusive;
    __syncthreads();
    unsigned long long before_warp = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++)
        before_warp += warp < warp_index() ? warp_sums[warp] : 0;
    return before_warp + inclusive - value;
}

// ---- tile state of a digit: {what is known : 2, count : 62} in one word, read and written in one
//      piece ----

struct DigitStates {
    static constexpr unsigned long long kPartial = 1ull << 62;   // the count in this tile alone
    static constexpr unsigned long long kInclusive = 2ull << 62; // in this tile and all before it
    static constexpr unsigned long long kCount = (1ull << 62) - 1;

    unsigned long long *words; // of all tiles but the last, kDigits each; 0: nothing known

    // Pairs with look_back().
    __device__ __forceinline__ void publish(int tile, unsigned long long word) const
    {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :
                     : "l"(words + size_t(tile) * kDigits + threadIdx.x), "l"(word)
                     : "memory");
    }
    // How often this thread's digit occurs in the tiles before `tile`; they were drawn earlier.
    __device__ __forceinline__ unsigned look_back(int tile) const
    {
        unsigned long long count = 0, word = 0;
        for (int at = tile - 1; at >= 0 && (word & kInclusive) == 0; at--) {
            do {
                asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                             : "=l"(word)
                             : "l"(words + size_t(at) * kDigits + threadIdx.x)
                             : "memory");
            } while (word == 0);
            count += word & kCount;
        }
        return unsigned(count);
    }
};

// ---- kernels ----

// counts[pass][digit], of all keys; zero before.
__global__ void __launch_bounds__(kThreads) count_digits(const unsigned *keys, int *counts, int n)
{
    __shared__ int block_counts[kPasses][kDigits];
#pragma unroll
    for (int pass = 0; pass < kPasses; pass++)
        block_counts[pass][threadIdx.x] = 0;
    __syncthreads();
    // Unsigned: the last step may reach past 2^31.
    for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < unsigned(n);
         i += gridDim.x * kThreads) {
        const unsigned key = keys[i];
#pragma unroll
        for (int pass = 0; pass < kPasses; pass++) // partner: the same in the other threads
            atomicAdd(&block_counts[pass][digit_of(key, pass * kDigitBits)], 1);
    }
    __syncthreads();
#pragma unroll
    for (int pass = 0; pass < kPasses; pass++) {
        const int count = block_counts[pass][threadIdx.x];
        if (count > 0) // partner: the same in the other blocks
            atomicAdd(&counts[pass * kDigits + threadIdx.x], count);
    }
}

struct Pairs {
    unsigned *keys, *values;
};

__global__ void __launch_bounds__(kThreads)
    sort_tiles(const unsigned *keys, const unsigned *values, Pairs out, int n, int shift,
               const int *digit_counts, unsigned *next_tile, DigitStates states)
{
    __shared__ int drawn_tile;
    __shared__ int warp_counts[kWarps][kDigits]; // then where a digit of a warp goes in the tile
    __shared__ unsigned to_output[kDigits];      // from a place in the tile to one in the output
    __shared__ unsigned sorted_keys[kTile], sorted_values[kTile];

    // Draw a tile. Partner: the same atomicAdd in every other block; memset to 0 before.
    if (threadIdx.x == 0)
        drawn_tile = int(atomicAdd(next_tile, 1u));
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++)
        warp_counts[warp][threadIdx.x] = 0;
    __syncthreads();
    const int tile = drawn_tile;

    // Warp w owns kRows rows of 32 consecutive pairs. What a last tile lacks has the highest key,
    // and comes after all that is there.
    const unsigned tile_first = unsigned(tile) * kTile;
    const unsigned count = min(unsigned(n) - tile_first, unsigned(kTile));
    const unsigned warp_first = warp_index() * (kRows * kLanes) + lane_index();
    unsigned own_keys[kRows], own_values[kRows];
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned at = warp_first + row * kLanes;
        own_keys[row] = at < count ? keys[tile_first + at] : 0xffffffffu;
        own_values[row] = at < count ? values[tile_first + at] : 0;
    }

    // Rank each pair among those of its warp with the same digit.
    int *mine = warp_counts[warp_index()];
    int ranks[kRows];
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const int digit = digit_of(own_keys[row], shift);
        const unsigned same = warp_same_digit(digit);
        const int rank = __popc(same & ((1u << lane_index()) - 1));
        const int before = mine[digit];
        __syncwarp(); // all have read before the first of each digit writes
        if (rank == 0)
            mine[digit] = before + __popc(same);
        __syncwarp();
        ranks[row] = before + rank;
    }
    __syncthreads();

    // Thread d: how often digit d occurs in the tile, and in each warp before the next.
    int digit_count = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        const int of_warp = warp_counts[warp][threadIdx.x];
        warp_counts[warp][threadIdx.x] = digit_count;
        digit_count += of_warp;
    }
    const bool is_awaited = tile + 1 < int(gridDim.x);
    if (is_awaited && tile > 0)
        states.publish(tile, DigitStates::kPartial | unsigned(digit_count));
    // Where digit d begins, in the output and in the tile: two sums in one word.
    const unsigned long long firsts = block_exclusive_sum(
        (unsigned long long)(unsigned)digit_counts[threadIdx.x] << 32 | unsigned(digit_count));
    const unsigned before_tile = states.look_back(tile);
    if (is_awaited)
        states.publish(tile, DigitStates::kInclusive | (before_tile + unsigned(digit_count)));
    const unsigned first = unsigned(firsts);
    to_output[threadIdx.x] = unsigned(firsts >> 32) + before_tile - first;
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++)
        warp_counts[warp][threadIdx.x] += int(first);
    __syncthreads();

    // Sort the tile.
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const int to = mine[digit_of(own_keys[row], shift)] + ranks[row];
        sorted_keys[to] = own_keys[row];
        sorted_values[to] = own_values[row];
    }
    __syncthreads();

    // Write it.
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const unsigned at = row * kThreads + threadIdx.x;
        if (at < count) {
            const unsigned key = sorted_keys[at];
            const unsigned to = to_output[digit_of(key, shift)] + at;
            out.keys[to] = key;
            out.values[to] = sorted_values[at];
        }
    }
}

extern "C" void radix_sort(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                           unsigned *values_out, int n, void *workspace, size_t workspace_bytes,
                           cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kTile + 1;
    // States of the passes, counts of digits, tickets: all zero before the launch. Then pairs.
    const size_t state_count = size_t(tile_count - 1) * kDigits;
    auto *words = static_cast<unsigned long long *>(workspace);
    auto *counts = reinterpret_cast<int *>(words + kPasses * state_count);
    auto *next_tiles = reinterpret_cast<unsigned *>(counts + kPasses * kDigits);
    unsigned *other_keys = next_tiles + kPasses, *other_values = other_keys + n;
    cudaMemsetAsync(workspace, 0,
                    size_t(reinterpret_cast<char *>(other_keys) - static_cast<char *>(workspace)),
                    stream);
    cudaGetLastError();
    count_digits<<<min(tile_count, kCountBlocks), kThreads, 0, stream>>>(keys, counts, n);
    cudaGetLastError();
    for (int pass = 0; pass < kPasses; pass++) {
        const bool to_other = pass % 2 == 0; // the last pass goes to the outputs
        const Pairs to = to_other ? Pairs{other_keys, other_values} : Pairs{keys_out, values_out};
        sort_tiles<<<tile_count, kThreads, 0, stream>>>(keys, values, to, n, pass * kDigitBits,
                                                        counts + pass * kDigits, next_tiles + pass,
                                                        DigitStates{words + pass * state_count});
        cudaGetLastError();
        keys = to.keys;
        values = to.values;
    }
}
