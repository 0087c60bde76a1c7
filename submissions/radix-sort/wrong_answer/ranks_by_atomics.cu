// expect: wrong_answer
// gpu: accepted - there the lanes and blocks happened to arrive in order
// Ranks the pairs of a digit by an atomic counter: in order of arrival, so the sort is not stable,
// and from the second pass on not even sorted.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
constexpr int kThreads = kDigits;
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

// Unsigned: the last tile may reach past 2^31.
__device__ __forceinline__ unsigned tile_index(int row)
{
    return blockIdx.x * unsigned{kTile} + (warp_index() * kRows + row) * kLanes + lane_index();
}

// kDigits, a digit that no key has, for what lies past the end.
__device__ __forceinline__ int digit_of(const unsigned *keys, int n, int shift, unsigned i)
{
    return i < unsigned(n) ? int(keys[i] >> shift) & (kDigits - 1) : kDigits;
}

// ---- kernels ----

// counts[digit * tiles + tile]: a scan of them, in this order, is where a digit of a tile begins.
__global__ void __launch_bounds__(kThreads)
    count_digits(const unsigned *keys, int *counts, int n, int shift)
{
    __shared__ int tile_counts[kDigits];
    tile_counts[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const int digit = digit_of(keys, n, shift, tile_index(row));
        if (digit < kDigits)
            atomicAdd(&tile_counts[digit], 1); // partner: the same in the other threads
    }
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = tile_counts[threadIdx.x];
}

__global__ void __launch_bounds__(kScanThreads) scan_counts(int *counts, int count)
{
    int carry = 0; // the same in every thread
    for (int first = 0; first < count; first += kScanThreads) {
        const int i = first + threadIdx.x;
        const int own = i < count ? counts[i] : 0;
        int total;
        const int before = block_exclusive_sum(own, total);
        if (i < count)
            counts[i] = carry + before;
        carry += total;
    }
}

__global__ void __launch_bounds__(kThreads)
    scatter(const unsigned *keys, const unsigned *values, unsigned *keys_out, unsigned *values_out,
            const int *places, int n, int shift)
{
    __shared__ int warp_counts[kWarps][kDigits]; // first counts, then places
    for (int warp = 0; warp < kWarps; warp++)
        warp_counts[warp][threadIdx.x] = 0;
    __syncthreads();

    // Rank each pair among those of its warp with the same digit.
    int *mine = warp_counts[warp_index()];
    int digits[kRows], ranks[kRows];
#pragma unroll
    for (int row = 0; row < kRows; row++) {
        const int digit = digit_of(keys, n, shift, tile_index(row));
        digits[row] = digit;
        ranks[row] = digit < kDigits ? atomicAdd(&mine[digit], 1) : 0;
    }
    __syncthreads();

    // Thread d: where digit d of each warp begins.
    int place = places[threadIdx.x * gridDim.x + blockIdx.x];
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++) {
        const int count = warp_counts[warp][threadIdx.x];
        warp_counts[warp][threadIdx.x] = place;
        place += count;
    }
    __syncthreads();

#pragma unroll
    for (int row = 0; row < kRows; row++) {
        if (digits[row] == kDigits)
            continue;
        const unsigned i = tile_index(row);
        const int to = mine[digits[row]] + ranks[row];
        keys_out[to] = keys[i];
        values_out[to] = values[i];
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
    unsigned *other_keys = static_cast<unsigned *>(workspace), *other_values = other_keys + n;
    int *counts = reinterpret_cast<int *>(other_values + n);
    for (int shift = 0; shift < 32; shift += kDigitBits) {
        const bool to_other = shift / kDigitBits % 2 == 0; // the last pass goes to the outputs
        unsigned *to_keys = to_other ? other_keys : keys_out;
        unsigned *to_values = to_other ? other_values : values_out;
        count_digits<<<tile_count, kThreads, 0, stream>>>(keys, counts, n, shift);
        cudaGetLastError();
        scan_counts<<<1, kScanThreads, 0, stream>>>(counts, kDigits * tile_count);
        cudaGetLastError();
        scatter<<<tile_count, kThreads, 0, stream>>>(keys, values, to_keys, to_values, counts, n,
                                                     shift);
        cudaGetLastError();
        keys = to_keys;
        values = to_values;
    }
}
