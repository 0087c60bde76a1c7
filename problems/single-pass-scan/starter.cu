// Single-pass scan with look-back. The rules are in statement.md; hints: judge.sh hint.
//
// This starter compiles. Every block takes a tile, scans it and publishes its sum; what is missing is
// looking at the sums of the tiles before: right up to n = 2048, wrong from there on.

#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kItems = 8; // per thread
constexpr int kTile = kThreads * kItems;

// State and sum of a tile in one word, so that they are written and read at once.
enum : unsigned { kNothing = 0, kPartial = 1, kInclusive = 2 };

__device__ unsigned long long packed(unsigned state, int sum)
{
    return static_cast<unsigned long long>(state) << 32 | static_cast<unsigned>(sum);
}

// The sum of v over this thread and all before it.
__device__ int block_inclusive_scan(int v)
{
    __shared__ int warp_totals[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += below;
    }
    if (lane == 31)
        warp_totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w)
        v += warp_totals[w];
    return v;
}

__global__ void scan(const int *in, int *out, int n, unsigned *ticket,
                     volatile unsigned long long *states)
{
    __shared__ int tile_index, before;
    const int t = threadIdx.x;
    if (t == 0)
        tile_index = static_cast<int>(atomicAdd(ticket, 1u)); // not blockIdx: blocks start in any order
    __syncthreads();
    const int tile = tile_index;
    const int base = tile * kTile + t * kItems;
    int items[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = base + k < n ? in[base + k] : 0;
        sum += items[k];
    }
    const int inclusive = block_inclusive_scan(sum);
    if (t == kThreads - 1) {
        states[tile] = packed(kPartial, inclusive);
        before = 0; // TODO: look back. And publish what the tiles behind are waiting for.
    }
    __syncthreads();
    int running = before + inclusive - sum;
    for (int k = 0; k < kItems; ++k) {
        if (base + k < n)
            out[base + k] = running;
        running += items[k];
    }
}

extern "C" void single_pass_scan(const int *in, int *out, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    const int tiles = (n - 1) / kTile + 1;
    unsigned long long *words = static_cast<unsigned long long *>(workspace);
    cudaMemsetAsync(words, 0, (1 + tiles) * sizeof *words, stream);
    scan<<<tiles, kThreads, 0, stream>>>(in, out, n, reinterpret_cast<unsigned *>(words), words + 1);
}
