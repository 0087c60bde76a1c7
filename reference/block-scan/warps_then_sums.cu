// Block scan, rung 2: every warp scans its items, one warp scans the warps' sums.
//
// Contract
//   out[i] = the sum of in from the start of i's tile of 1024 up to but without i; totals[t] = the
//   sum of tile t; both modulo 2^32, for 0 <= n <= INT_MAX. n = 0 launches nothing. Any 4-byte
//   alignment. The arrays must not overlap. Deterministic; all work goes on `stream`.
//
// Method
//   1. A thread per item; each warp scans with shuffles and writes its sum to shared memory.
//   2. The first warp turns the 32 sums into what stands before each warp, in place.
//   3. Every thread adds what stands before its warp.
//   Two barriers: sums written before they are scanned, scanned before they are used.
//
// Bytes moved per element: 8 (4 read, 4 written), besides 4 per tile.
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kTile = 1024; // also the threads of a block: the most there can be
constexpr int kWarps = kTile / kWarp;
static_assert(kWarps == kWarp, "one warp scans the warps' sums, a lane each");

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

__global__ void __launch_bounds__(kTile)
    scan_tile(const int *__restrict__ in, int *__restrict__ out, int *__restrict__ totals, int n)
{
    __shared__ unsigned warp_sums[kWarps]; // first each warp's sum, then what precedes it
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    // 64 bits: the last tile may end past INT_MAX.
    const long long i = static_cast<long long>(blockIdx.x) * kTile + threadIdx.x;

    // Phase 1: warps on their own. Threads past the end bring the neutral 0.
    const unsigned value = i < n ? static_cast<unsigned>(in[i]) : 0;
    const unsigned inclusive = warp_inclusive_scan(value);
    if (lane == kWarp - 1)
        warp_sums[warp] = inclusive;
    __syncthreads();

    // Phase 2: the sums of the warps; the last lane knows the sum of them all.
    if (warp == 0) {
        const unsigned sum = warp_sums[lane];
        const unsigned up_to_here = warp_inclusive_scan(sum);
        warp_sums[lane] = up_to_here - sum;
        if (lane == kWarp - 1)
            totals[blockIdx.x] = static_cast<int>(up_to_here);
    }
    __syncthreads();

    // Phase 3: what stands before the warp, and within it.
    if (i < n)
        out[i] = static_cast<int>(warp_sums[warp] + inclusive - value);
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
    scan_tile<<<(n - 1) / kTile + 1, kTile, 0, stream>>>(in, out, totals, n);
    check_launch("scan_tile");
}
