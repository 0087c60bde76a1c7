// Block scan, rung 3: four rows per warp, one barrier.
//
// Contract
//   out[i] = the sum of in from the start of i's tile of 1024 up to but without i; totals[t] = the
//   sum of tile t; both modulo 2^32, for 0 <= n <= INT_MAX. n = 0 launches nothing. Any 4-byte
//   alignment. The arrays must not overlap. Deterministic; all work goes on `stream`.
//
// Method
//   1. 256 threads take a tile. A warp owns 128 neighbours as 4 rows of 32, all loaded at once, and
//      scans them row by row; the sum of a row goes into the next one by a shuffle.
//   2. Each warp writes its sum, and after the one barrier adds up those before it by itself: 8
//      numbers are scanned by every warp in the time in which one would do it for all.
//   Small blocks: eight of them share an SM, and load while others wait at their barrier.
//
// Bytes moved per element: 8 (4 read, 4 written), besides 4 per tile.
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kTile = 1024;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kRows = kTile / kThreads;        // of 32 items, per warp
constexpr int kStretch = kRows * kWarp;        // a warp's part of the tile
static_assert(kWarps <= kWarp, "a lane for each warp's sum");

// Lane l gets the sum of lanes 0..l. All lanes of the warp must call it.
__device__ unsigned warp_inclusive_scan(unsigned value)
{
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
        const unsigned before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane >= distance)
            value = before + value;
    }
    return value;
}

__global__ void __launch_bounds__(kThreads)
    scan_tile(const int *__restrict__ in, int *__restrict__ out, int *__restrict__ totals, int n)
{
    __shared__ unsigned warp_sums[kWarps];
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    // 64 bits: the last tile may end past INT_MAX.
    const long long first =
        static_cast<long long>(blockIdx.x) * kTile + warp * kStretch + lane;

    // Phase 1: load all rows, scan them one after the other. before[r] = what precedes the item
    // within its warp.
    unsigned before[kRows], warp_sum = 0;
#pragma unroll
    for (int r = 0; r < kRows; r++)
        before[r] = first + r * kWarp < n ? static_cast<unsigned>(in[first + r * kWarp]) : 0;
#pragma unroll
    for (int r = 0; r < kRows; r++) {
        const unsigned inclusive = warp_inclusive_scan(before[r]);
        before[r] = warp_sum + inclusive - before[r];
        warp_sum = warp_sum + __shfl_sync(kAllLanes, inclusive, kWarp - 1);
    }

    // Phase 2: the sums of the warps, scanned by each warp for itself.
    if (lane == 0)
        warp_sums[warp] = warp_sum;
    __syncthreads();
    const unsigned sum = lane < kWarps ? warp_sums[lane] : 0;
    const unsigned inclusive = warp_inclusive_scan(sum);
    const unsigned offset = __shfl_sync(kAllLanes, inclusive - sum, warp);
    if (threadIdx.x == kWarp - 1) // lane 31 of warp 0 holds the sum of all warps
        totals[blockIdx.x] = static_cast<int>(inclusive);

    // Phase 3: write.
#pragma unroll
    for (int r = 0; r < kRows; r++)
        if (first + r * kWarp < n)
            out[first + r * kWarp] = static_cast<int>(offset + before[r]);
}

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
}

extern "C" void block_scan(const int *in, int *out, int *totals, int n, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    scan_tile<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, totals, n);
    check_launch("scan_tile");
}
