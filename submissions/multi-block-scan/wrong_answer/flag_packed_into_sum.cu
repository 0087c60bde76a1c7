// expect: wrong_answer
// Packs the state of a tile into the two low bits of its sum, so that one 32-bit store publishes
// both: sums of 2^29 and more lose their top bits.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kItems = 4;
constexpr int kTile = kThreads * kItems;

__device__ int warp_inclusive_scan(int v)
{
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        int below = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += below;
    }
    return v;
}

// The sum of v over this thread and all before it.
__device__ int block_inclusive_scan(int v)
{
    __shared__ int warp_totals[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_inclusive_scan(v);
    if (lane == 31)
        warp_totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w)
        v += warp_totals[w];
    return v;
}

enum { kNothing = 0, kAggregate = 1, kPrefix = 2 };

__device__ int packed(int sum, int state)
{
    return sum * 4 + state;
}

__global__ void scan(const int *in, int *out, int n, unsigned *ticket, volatile int *states)
{
    __shared__ int tile_index, before;
    const int t = threadIdx.x;
    if (t == 0)
        tile_index = atomicAdd(ticket, 1u);
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
        states[tile] = packed(inclusive, tile == 0 ? kPrefix : kAggregate);
        int prefix = 0;
        for (int j = tile - 1; j >= 0; --j) {
            int state;
            do {
                state = states[j];
            } while (state == kNothing);
            prefix += state >> 2;
            if ((state & 3) == kPrefix)
                break;
        }
        states[tile] = packed(prefix + inclusive, kPrefix);
        before = prefix;
    }
    __syncthreads();
    int running = before + inclusive - sum;
    for (int k = 0; k < kItems; ++k) {
        if (base + k < n)
            out[base + k] = running;
        running += items[k];
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    const int tiles = (n - 1) / kTile + 1;
    unsigned *ticket = static_cast<unsigned *>(workspace);
    int *states = static_cast<int *>(workspace) + 1;
    cudaMemsetAsync(workspace, 0, (1 + tiles) * sizeof(int), stream);
    scan<<<tiles, kThreads, 0, stream>>>(in, out, n, ticket, states);
}
