// Inclusive scan with wide sums, rung 2: three kernels, reduce then scan.
//
// Contract
//   out[i] = in[0] + ... + in[i] in 64 bits, for 0 <= n <= INT_MAX. n = 0 launches nothing. Aligned to
//   the elements. `in` and `out` must not overlap.
//   Deterministic. workspace holds one sum per tile: 8 bytes for each 2048 elements.
//
// Method
//   1. sum_tiles        every block adds up its tile and writes the sum
//   2. scan_tile_sums   one block turns the sums into offsets: what stands before each tile
//   3. scan_tiles       every block scans its tile, starting from the tile's offset
//   Every sum is 64 bits wide from the first addition on; items are widened as they are loaded.
//
// Bytes moved per element: 16 (4 read in kernel 1; 4 read and 8 written in kernel 3).
#include <cstddef>
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;            // 8 warps: several blocks fit on an SM
constexpr int kWarps = kThreads / kWarp;
constexpr int kItems = 8;                // rows of a warp: 16 registers for the sums
constexpr int kTile = kThreads * kItems; // 2048
constexpr int kWarpItems = kWarp * kItems;
static_assert(kWarps <= kWarp, "one warp scans the warps' sums");

// ---- lanes and warps ---------------------------------------------------------------------------

__device__ int lane_index()
{
    return threadIdx.x % kWarp;
}

// Lane l gets the sum of lanes 0..l.
__device__ long long warp_inclusive_scan(long long value)
{
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
        const long long before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

__device__ long long warp_sum(long long value)
{
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kAllLanes, value, distance);
    return value;
}

// A warp owns kItems rows of 32 neighbours. Turns each row into its sums from the warp's first item
// on, row after row; returns the sum of all. Past the end stands the neutral 0.
__device__ long long warp_scan_rows(const int *__restrict__ in, long long first, int n,
                                    long long (&sum)[kItems])
{
    long long carry = 0;
#pragma unroll
    for (int k = 0; k < kItems; k++) // all loads are under way before the first is needed
        sum[k] = first + k * kWarp < n ? in[first + k * kWarp] : 0;
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        sum[k] = carry + warp_inclusive_scan(sum[k]);
        carry = __shfl_sync(kAllLanes, sum[k], kWarp - 1);
    }
    return carry;
}

// ---- blocks ------------------------------------------------------------------------------------

// What the warps before this one sum up to; *total is the sum of the whole block. `mine` is the sum
// of the calling warp, the same in all its lanes. Every thread of the block must call it.
__device__ long long block_exclusive_warp_sum(long long mine, long long *total)
{
    __shared__ long long warp_sums[kWarps];
    if (lane_index() == 0)
        warp_sums[threadIdx.x / kWarp] = mine;
    __syncthreads();
    // Each warp scans the few sums for itself: cheaper than one warp doing it and a second barrier.
    const long long sum = lane_index() < kWarps ? warp_sums[lane_index()] : 0;
    const long long inclusive = warp_inclusive_scan(sum);
    __syncthreads(); // the next call writes warp_sums again
    *total = __shfl_sync(kAllLanes, inclusive, kWarps - 1);
    return __shfl_sync(kAllLanes, inclusive - sum, threadIdx.x / kWarp);
}

// ---- kernels -----------------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreads)
    sum_tiles(const int *__restrict__ in, long long *__restrict__ tile_sums, int n)
{
    const long long first = static_cast<long long>(blockIdx.x) * kTile + threadIdx.x;
    long long sum = 0, total;
#pragma unroll
    for (int k = 0; k < kItems; k++)
        sum += first + k * kThreads < n ? in[first + k * kThreads] : 0;
    block_exclusive_warp_sum(warp_sum(sum), &total);
    if (threadIdx.x == 0)
        tile_sums[blockIdx.x] = total;
}

// One block takes kThreads tiles at a time and carries the running sum in a register: all threads
// compute the same carry, so nobody has to publish it.
__global__ void __launch_bounds__(kThreads) scan_tile_sums(long long *tile_sums, int tiles)
{
    long long carry = 0;
    for (int begin = 0; begin < tiles; begin += kThreads) {
        const int tile = begin + threadIdx.x;
        const long long sum = tile < tiles ? tile_sums[tile] : 0;
        const long long inclusive = warp_inclusive_scan(sum);
        long long total;
        const long long before =
            block_exclusive_warp_sum(__shfl_sync(kAllLanes, inclusive, kWarp - 1), &total);
        if (tile < tiles)
            tile_sums[tile] = carry + before + inclusive - sum;
        carry = carry + total;
    }
}

__global__ void __launch_bounds__(kThreads)
    scan_tiles(const int *__restrict__ in, long long *__restrict__ out,
               const long long *__restrict__ tile_offsets, int n)
{
    const long long first = static_cast<long long>(blockIdx.x) * kTile +
                            threadIdx.x / kWarp * kWarpItems + lane_index();
    long long sum[kItems], total;
    const long long warp_total = warp_scan_rows(in, first, n, sum);
    const long long offset =
        tile_offsets[blockIdx.x] + block_exclusive_warp_sum(warp_total, &total);
#pragma unroll
    for (int k = 0; k < kItems; k++)
        if (first + k * kWarp < n)
            out[first + k * kWarp] = offset + sum[k];
}

// ---- host --------------------------------------------------------------------------------------

// A call that failed must not pass for one that worked. The error stays for the caller to see.
static bool worked(const char *what)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

extern "C" void inclusive_scan(const int *in, long long *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes; // 8 bytes per 256 elements are promised, 8 per 2048 are used
    if (n == 0)
        return; // an empty grid is a launch error
    const int tiles = (n - 1) / kTile + 1; // n + kTile - 1 could overflow
    long long *tile_sums = static_cast<long long *>(workspace);

    sum_tiles<<<tiles, kThreads, 0, stream>>>(in, tile_sums, n);
    if (!worked("sum_tiles"))
        return;
    scan_tile_sums<<<1, kThreads, 0, stream>>>(tile_sums, tiles);
    if (!worked("scan_tile_sums"))
        return;
    scan_tiles<<<tiles, kThreads, 0, stream>>>(in, out, tile_sums, n);
    worked("scan_tiles");
}
