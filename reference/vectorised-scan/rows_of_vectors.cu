// Vectorised scan, rung 3: four vectors per thread, dealt out in rows.
//
// Contract
//   out[i] = the sum of in from the start of i's tile of 4096 up to i, modulo 2^32, for
//   0 <= n <= INT_MAX. n = 0 launches nothing. Both arrays are aligned to 16 bytes and do not
//   overlap. Deterministic; all work goes on `stream`.
//
// Method
//   1. A warp owns 512 neighbours as 4 rows; lane l has the vector l of each row, so that every load
//      of the warp covers 512 bytes without a gap. All four are under way at once.
//   2. Rows are scanned one after the other: in registers, between lanes, and on into the next row.
//   3. Each warp writes its sum, and after the one barrier adds up those before it by itself.
//   A fourth of the threads of rung 2, so that several blocks share an SM, and one barrier.
//
// Bytes moved per element: 8, with an access of a warp for 128 items each way.
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kTile = 4096;
constexpr int kRows = 4;                        // vectors per thread: 16 registers
constexpr int kThreads = kTile / (4 * kRows);   // 256
constexpr int kWarps = kThreads / kWarp;
constexpr int kRow = 4 * kWarp;                 // items of a row: 128

struct four {
    unsigned item[4];
};

__device__ unsigned lane_index()
{
    return threadIdx.x % kWarp;
}

// Lane l gets the sum of lanes 0..l. All lanes of the warp must call it.
__device__ unsigned warp_inclusive_scan(unsigned value)
{
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
        const unsigned before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

// Inclusive scan of the four; returns their sum.
__device__ unsigned lane_scan(four &f)
{
#pragma unroll
    for (int k = 1; k < 4; k++)
        f.item[k] = f.item[k - 1] + f.item[k];
    return f.item[3];
}

__device__ void lane_add(four &f, unsigned before)
{
#pragma unroll
    for (int k = 0; k < 4; k++)
        f.item[k] = before + f.item[k];
}

// All rows of a lane; 64 bits: the last tile may end past INT_MAX. Only a full tile is read by vectors,
// so that one question answers for all rows. Past the end stands the neutral 0.
__device__ void tile_load(const int *__restrict__ in, long long first, int n, bool is_full,
                          four (&row)[kRows])
{
    if (is_full) {
#pragma unroll
        for (int r = 0; r < kRows; r++) {
            const int4 v = *reinterpret_cast<const int4 *>(in + first + r * kRow);
            row[r] = {static_cast<unsigned>(v.x), static_cast<unsigned>(v.y),
                      static_cast<unsigned>(v.z), static_cast<unsigned>(v.w)};
        }
        return;
    }
#pragma unroll
    for (int r = 0; r < kRows; r++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const long long i = first + r * kRow + k;
            row[r].item[k] = i < n ? static_cast<unsigned>(in[i]) : 0;
        }
}

__device__ void tile_store(int *__restrict__ out, long long first, int n, bool is_full,
                           const four (&row)[kRows])
{
    if (is_full) {
#pragma unroll
        for (int r = 0; r < kRows; r++)
            // Written once and not read here: it need not stay in the cache. (As a plain store nvcc
            // 13.0 takes the first row apart, to share its words with the loop below.)
            __stcs(reinterpret_cast<int4 *>(out + first + r * kRow),
                   make_int4(row[r].item[0], row[r].item[1], row[r].item[2], row[r].item[3]));
        return;
    }
#pragma unroll
    for (int r = 0; r < kRows; r++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (first + r * kRow + k < n)
                out[first + r * kRow + k] = static_cast<int>(row[r].item[k]);
}

__global__ void __launch_bounds__(kThreads)
    scan_tile(const int *__restrict__ in, int *__restrict__ out, int n)
{
    __shared__ unsigned warp_sums[kWarps];
    const int warp = threadIdx.x / kWarp;
    const long long first = static_cast<long long>(blockIdx.x) * kTile + warp * kRows * kRow +
                            4 * static_cast<int>(lane_index());

    const bool is_full = static_cast<long long>(blockIdx.x + 1) * kTile <= n;

    // Phase 1: load all rows, then scan them one after the other.
    four row[kRows];
    unsigned warp_sum = 0;
    tile_load(in, first, n, is_full, row);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
        const unsigned sum = lane_scan(row[r]);
        const unsigned inclusive = warp_inclusive_scan(sum);
        lane_add(row[r], warp_sum + inclusive - sum);
        warp_sum = warp_sum + __shfl_sync(kAllLanes, inclusive, kWarp - 1);
    }

    // Phase 2: the sums of the warps, scanned by each warp for itself.
    if (lane_index() == 0)
        warp_sums[warp] = warp_sum;
    __syncthreads();
    const unsigned sum = lane_index() < kWarps ? warp_sums[lane_index()] : 0;
    const unsigned before = __shfl_sync(kAllLanes, warp_inclusive_scan(sum) - sum, warp);

    // Phase 3: write.
#pragma unroll
    for (int r = 0; r < kRows; r++)
        lane_add(row[r], before);
    tile_store(out, first, n, is_full, row);
}

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
}

extern "C" void vectorised_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    scan_tile<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, n);
    check_launch("scan_tile");
}
