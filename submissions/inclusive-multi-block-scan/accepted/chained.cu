// expect: accepted
// A chain: every tile waits for the inclusive sum of the tile before it, whose flag is a word of its
// own; fences keep the two in order. Tiles are numbered by a ticket.
#include <cstddef>

constexpr int kThreads = 512, kItems = 4, kTile = kThreads * kItems;

__device__ long long block_inclusive_scan(long long v)
{
    __shared__ long long totals[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        const long long below = __shfl_up_sync(~0u, v, d);
        v += lane >= d ? below : 0;
    }
    if (lane == 31)
        totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w)
        v += totals[w];
    return v;
}

__global__ void scan(const int *in, long long *out, int n, unsigned *ticket,
                     volatile unsigned *ready, volatile long long *inclusive)
{
    __shared__ int tile_index;
    __shared__ long long before;
    const int t = threadIdx.x;
    if (t == 0) {
        tile_index = static_cast<int>(atomicAdd(ticket, 1u));
        before = 0;
        if (tile_index > 0) {
            while (ready[tile_index - 1] == 0) {
            }
            __threadfence();
            before = inclusive[tile_index - 1];
        }
    }
    __syncthreads();
    const int tile = tile_index;
    const long long base = 1ll * tile * kTile + t * kItems;
    long long sum[kItems], own = 0;
    for (int k = 0; k < kItems; ++k) {
        own += base + k < n ? in[base + k] : 0;
        sum[k] = own;
    }
    const long long end = block_inclusive_scan(own);
    if (t == kThreads - 1) {
        inclusive[tile] = before + end;
        __threadfence();
        ready[tile] = 1;
    }
    for (int k = 0; k < kItems; ++k)
        if (base + k < n)
            out[base + k] = before + end - own + sum[k];
}

extern "C" void inclusive_scan(const int *in, long long *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    const int tiles = (n - 1) / kTile + 1;
    long long *inclusive = static_cast<long long *>(workspace);
    unsigned *ticket = reinterpret_cast<unsigned *>(inclusive + tiles);
    cudaMemsetAsync(ticket, 0, (1 + tiles) * sizeof *ticket, stream);
    scan<<<tiles, kThreads, 0, stream>>>(in, out, n, ticket, ticket + 1, inclusive);
}
