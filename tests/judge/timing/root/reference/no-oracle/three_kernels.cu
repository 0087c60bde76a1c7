// Exclusive scan, rung 2: three kernels, reduce then scan.
//
// Contract
//   out[i] = in[0] + ... + in[i-1] modulo 2^32, out[0] = 0, for 0 <= n <= INT_MAX.
//   n = 0 launches nothing. Any 4-byte alignment. `in` and `out` must not overlap.
//   Deterministic. workspace holds one int per tile: n / 4096 * 4 bytes of the n / 256 * 4 given.
//
// Method
//   1. sum_tiles        every block adds up its tile and writes the sum
//   2. scan_tile_sums   one block turns the sums into offsets: what stands before each tile
//   3. scan_tiles       every block scans its tile, starting from the tile's offset
//   Blocks never wait for each other: the end of a kernel is the barrier between them.
//
// Bytes moved per element: 12 (read in kernel 1; read and written in kernel 3). The textbook's
// scan-then-propagate writes every element twice and moves 16.
#include <cstddef>
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;               // 8 warps: several blocks fit on an SM
constexpr int kWarps = kThreads / kWarp;
constexpr int kItems = 16;                  // a thread's share of the tile, in registers
constexpr int kTile = kThreads * kItems;    // 4096
constexpr int kWarpItems = kWarp * kItems;  // a warp's stretch of the tile: 512 neighbours
constexpr int kSumThreads = 1024;           // kernel 2 runs alone: give it the widest block
static_assert(kWarps <= kWarp && kSumThreads / kWarp <= kWarp, "one warp scans the warps' sums");

// ---- lanes and warps ---------------------------------------------------------------------------

__device__ unsigned lane_index()
{
    return threadIdx.x % kWarp;
}

// in[i], or the neutral 0 past the end, so that a partial tile needs no code of its own.
__device__ unsigned lane_load(const int *in, long long i, long long n)
{
    return i < n ? static_cast<unsigned>(in[i]) : 0;
}

// Lane l gets the sum of lanes 0..l.
__device__ unsigned warp_inclusive_scan(unsigned value)
{
    for (int distance = 1; distance < kWarp; distance *= 2) {
        unsigned before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

__device__ unsigned warp_sum(unsigned value)
{
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kAllLanes, value, distance);
    return value;
}

// ---- blocks ------------------------------------------------------------------------------------

// What the warps before this one sum up to; *total is the sum of the whole block. `mine` is the sum
// of the calling warp, the same in all its lanes. Every thread of the block must call it.
template <int kBlockWarps>
__device__ unsigned block_exclusive_warp_sum(unsigned mine, unsigned *total)
{
    __shared__ unsigned warp_sums[kBlockWarps];
    const int warp = threadIdx.x / kWarp;
    if (lane_index() == 0)
        warp_sums[warp] = mine;
    __syncthreads();
    // Each warp scans the few sums for itself: cheaper than one warp doing it and a second barrier.
    unsigned sum = lane_index() < kBlockWarps ? warp_sums[lane_index()] : 0;
    unsigned inclusive = warp_inclusive_scan(sum);
    __syncthreads(); // the next call writes warp_sums again
    *total = __shfl_sync(kAllLanes, inclusive, kBlockWarps - 1);
    return __shfl_sync(kAllLanes, inclusive - sum, warp);
}

// ---- kernel 1: the sum of every tile -----------------------------------------------------------

__global__ void sum_tiles(const int *__restrict__ in, unsigned *__restrict__ tile_sums, int n)
{
    const long long tile_begin = static_cast<long long>(blockIdx.x) * kTile;
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < kItems; k++)
        sum += lane_load(in, tile_begin + k * kThreads + threadIdx.x, n);
    unsigned total;
    block_exclusive_warp_sum<kWarps>(warp_sum(sum), &total);
    if (threadIdx.x == 0)
        tile_sums[blockIdx.x] = total;
}

// ---- kernel 2: sums become offsets, in place ---------------------------------------------------

// One block takes kSumThreads tiles at a time and carries the running sum in a register: all
// threads compute the same carry, so nobody has to publish it.
__global__ void scan_tile_sums(unsigned *tile_sums, int tiles)
{
    unsigned carry = 0;
    for (int begin = 0; begin < tiles; begin += kSumThreads) {
        const int tile = begin + threadIdx.x;
        const unsigned sum = tile < tiles ? tile_sums[tile] : 0;
        const unsigned inclusive = warp_inclusive_scan(sum);
        unsigned total;
        const unsigned before = block_exclusive_warp_sum<kSumThreads / kWarp>(
            __shfl_sync(kAllLanes, inclusive, kWarp - 1), &total);
        if (tile < tiles)
            tile_sums[tile] = carry + before + inclusive - sum;
        carry = carry + total;
    }
}

// ---- kernel 3: every tile, starting from its offset --------------------------------------------

// A warp owns 512 neighbouring elements as 16 rows of 32, so its loads and stores are coalesced:
// row k, lane l is element 32 k + l of the warp's stretch.
__global__ void scan_tiles(const int *__restrict__ in, int *__restrict__ out,
                           const unsigned *__restrict__ tile_offsets, int n)
{
    const int warp = threadIdx.x / kWarp;
    const long long first =
        static_cast<long long>(blockIdx.x) * kTile + warp * kWarpItems + lane_index();

    // Load, and scan each row: before[k] is the sum of what precedes the item within its warp.
    unsigned before[kItems];
    unsigned warp_total = 0;
#pragma unroll
    for (int k = 0; k < kItems; k++)
        before[k] = lane_load(in, first + k * kWarp, n);
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        const unsigned inclusive = warp_inclusive_scan(before[k]);
        before[k] = warp_total + inclusive - before[k];
        warp_total += __shfl_sync(kAllLanes, inclusive, kWarp - 1);
    }

    // Add the warps before this one and the tiles before this one.
    unsigned total;
    const unsigned offset =
        tile_offsets[blockIdx.x] + block_exclusive_warp_sum<kWarps>(warp_total, &total);
#pragma unroll
    for (int k = 0; k < kItems; k++)
        if (first + k * kWarp < n)
            out[first + k * kWarp] = static_cast<int>(offset + before[k]);
}

// ---- host --------------------------------------------------------------------------------------

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static bool launched(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
    return error == cudaSuccess;
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes; // 4 bytes per 256 elements are promised, 4 per 4096 are used
    if (n == 0)
        return; // an empty grid is a launch error
    const int tiles = (n - 1) / kTile + 1; // n + kTile - 1 could overflow
    unsigned *tile_sums = static_cast<unsigned *>(workspace);

    sum_tiles<<<tiles, kThreads, 0, stream>>>(in, tile_sums, n);
    if (!launched("sum_tiles"))
        return;
    scan_tile_sums<<<1, kSumThreads, 0, stream>>>(tile_sums, tiles);
    if (!launched("scan_tile_sums"))
        return;
    scan_tiles<<<tiles, kThreads, 0, stream>>>(in, out, tile_sums, n);
    launched("scan_tiles");
}
