// Warp scan, rung 3: four groups at a time for each warp.
//
// Contract
//   out[i] = the sum of in from the start of i's group of 32 up to i, modulo 2^32, for
//   0 <= n <= INT_MAX. n = 0 launches nothing. Any 4-byte alignment. `in` and `out` must not
//   overlap. Deterministic; all work goes on `stream`.
//
// Method
//   As rung 2, but a warp loads four neighbouring groups before it scans the first. Its loads are
//   under way together, and the shuffles of one group fill the time in which those of another wait
//   for each other: a scan of one group is a chain of ten dependent instructions.
//
// Bytes moved per element: 8 (4 read, 4 written).
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kGroups = 4;                     // of a warp: 8 more would need 8 more registers
constexpr int kStretch = kGroups * kWarp;      // a warp's items
constexpr int kTile = kThreads / kWarp * kStretch;

// Lane l of every group gets the sum of the group's lanes 0..l. All lanes of the warp must call it.
__device__ void warp_inclusive_scans(unsigned (&value)[kGroups])
{
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
#pragma unroll
        for (int g = 0; g < kGroups; g++) {
            const unsigned before = __shfl_up_sync(kAllLanes, value[g], distance);
            value[g] = (lane >= distance ? before : 0) + value[g];
        }
    }
}

__global__ void __launch_bounds__(kThreads)
    scan_groups(const int *__restrict__ in, int *__restrict__ out, int n)
{
    // 64 bits: the last tile may end past INT_MAX.
    const long long first = static_cast<long long>(blockIdx.x) * kTile +
                            threadIdx.x / kWarp * kStretch + threadIdx.x % kWarp;
    unsigned value[kGroups];
#pragma unroll
    for (int g = 0; g < kGroups; g++)
        value[g] = first + g * kWarp < n ? static_cast<unsigned>(in[first + g * kWarp]) : 0;
    warp_inclusive_scans(value);
#pragma unroll
    for (int g = 0; g < kGroups; g++)
        if (first + g * kWarp < n)
            out[first + g * kWarp] = static_cast<int>(value[g]);
}

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    scan_groups<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, n);
    check_launch("scan_groups");
}
