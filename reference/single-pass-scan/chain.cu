// Single-pass scan, rung 2: a chain. Each tile waits for the tile before it.
//
// Contract
//   out[i] = in[0] + ... + in[i-1] modulo 2^32, out[0] = 0, for 0 <= n <= INT_MAX.
//   n = 0 launches nothing. Any 4-byte alignment. `in` and `out` must not overlap.
//   Deterministic: int sums do not depend on who added what first. workspace: an 8-byte ticket and an
//   8-byte word per 4096 elements; its contents on entry do not matter, they are cleared on `stream`.
//   Right for any order in which blocks start.
//
// Method
//   1. A block takes the next tile number from an atomic ticket, loads the tile and scans it.
//   2. One thread waits until the tile before has published the sum of everything up to its end, adds
//      its own tile's, and publishes that.
//   3. The block adds what stands before it, and writes the tile.
//   Loading and scanning overlap; the waiting does not: n / 4096 steps follow one after the other, each
//   a write and a read through L2. Look-back, rung 3, breaks the chain.
//
// Bytes moved per element: 8 (4 read, 4 written), besides 32 bytes per 4096 elements.
#include <cstddef>
#include <cstdio>

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kItems = 16;                 // rows of a warp: the longer a tile, the shorter the chain
constexpr int kTile = kThreads * kItems;   // 4096
constexpr int kWarpItems = kWarp * kItems;

// ---- what tiles tell each other ----------------------------------------------------------------

// The sum of everything up to the end of a tile, and above it that it is there: one word, written and
// read in one piece, so that no fence is needed. A sum alone could not say so: it may be any value.
struct tile_sums {
    unsigned long long *words;

    __device__ void publish(int tile, unsigned sum)
    {
        const unsigned long long word = 1ull << 32 | sum;
        asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(words + tile), "l"(word) : "memory");
    }

    // The tile's block drew its ticket before ours, so it is running or done: the wait ends.
    __device__ unsigned wait(int tile)
    {
        unsigned long long word;
        do { // partner: publish() of that tile
            asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(words + tile) : "memory");
        } while (word >> 32 == 0);
        return static_cast<unsigned>(word);
    }
};

// ---- lanes and warps ---------------------------------------------------------------------------

__device__ int lane_index()
{
    return threadIdx.x % kWarp;
}

// Lane l gets the sum of lanes 0..l.
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

// ---- the kernel --------------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreads)
    scan(const int *__restrict__ in, int *__restrict__ out, int n, unsigned *ticket, tile_sums sums)
{
    __shared__ int block_tile;
    __shared__ unsigned warp_offsets[kWarps]; // first each warp's sum, then what precedes it
    const int warp = threadIdx.x / kWarp;

    // Phase 1: a tile. Partner: the same atomic in other blocks.
    if (threadIdx.x == 0)
        block_tile = static_cast<int>(atomicAdd(ticket, 1u));
    __syncthreads();
    const int tile = block_tile;

    // Phase 2: load it, and scan it row by row within each warp.
    const long long first =
        static_cast<long long>(tile) * kTile + warp * kWarpItems + lane_index();
    unsigned before[kItems], warp_total = 0;
#pragma unroll
    for (int k = 0; k < kItems; k++)
        before[k] = first + k * kWarp < n ? static_cast<unsigned>(in[first + k * kWarp]) : 0;
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        const unsigned inclusive = warp_inclusive_scan(before[k]);
        before[k] = warp_total + inclusive - before[k];
        warp_total = warp_total + __shfl_sync(kAllLanes, inclusive, kWarp - 1);
    }
    if (lane_index() == 0)
        warp_offsets[warp] = warp_total;
    __syncthreads();

    // Phase 3: the chain. The first warp joins the warps' sums, waits, and publishes.
    if (warp == 0) {
        const unsigned sum = lane_index() < kWarps ? warp_offsets[lane_index()] : 0;
        const unsigned inclusive = warp_inclusive_scan(sum);
        unsigned prefix = 0;
        if (lane_index() == kWarp - 1) {
            prefix = tile > 0 ? sums.wait(tile - 1) : 0;
            sums.publish(tile, prefix + inclusive);
        }
        prefix = __shfl_sync(kAllLanes, prefix, kWarp - 1);
        if (lane_index() < kWarps)
            warp_offsets[lane_index()] = prefix + inclusive - sum;
    }
    __syncthreads();

    // Phase 4: add what stands before the warp, and write.
    const unsigned offset = warp_offsets[warp];
#pragma unroll
    for (int k = 0; k < kItems; k++)
        if (first + k * kWarp < n)
            out[first + k * kWarp] = static_cast<int>(offset + before[k]);
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

extern "C" void single_pass_scan(const int *in, int *out, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes; // 8 bytes per 256 elements are promised, 8 per 4096 are used
    if (n == 0)
        return; // an empty grid is a launch error
    const int tiles = (n - 1) / kTile + 1; // n + kTile - 1 could overflow

    // Word 0 is the ticket, then come the sums; all bytes zero = first ticket 0, nothing published.
    unsigned long long *words = static_cast<unsigned long long *>(workspace);
    cudaMemsetAsync(words, 0, (1 + static_cast<size_t>(tiles)) * sizeof *words, stream);
    if (!worked("cudaMemsetAsync"))
        return;
    scan<<<tiles, kThreads, 0, stream>>>(in, out, n, reinterpret_cast<unsigned *>(words),
                                         tile_sums{words + 1});
    worked("scan");
}
