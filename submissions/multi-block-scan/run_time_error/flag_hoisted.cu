// expect: run_time_error
// expect-finding: data_race
// Polls a flag through a plain pointer: the compiler loads it once and loops for ever on what it
// saw, which hangs a card. The flag is written and read by plain accesses that nothing orders.
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

// A chain: every tile waits for the inclusive sum of the tile before it.
__global__ void scan(const int *in, int *out, int n, unsigned *ticket, int *ready,
                     volatile int *inclusive)
{
    __shared__ int tile_index, before;
    const int t = threadIdx.x;
    if (t == 0)
        tile_index = atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = tile_index;
    if (t == 0) {
        before = 0;
        if (tile > 0) {
            while (ready[tile - 1] == 0)
                ;
            __threadfence();
            before = inclusive[tile - 1];
        }
    }

    const int base = tile * kTile + t * kItems;
    int items[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = base + k < n ? in[base + k] : 0;
        sum += items[k];
    }
    const int end = block_inclusive_scan(sum); // also the barrier that makes `before` visible
    int running = before + end - sum;
    if (t == kThreads - 1) {
        inclusive[tile] = before + end;
        __threadfence();
        ready[tile] = 1; // <-- data_race
    }
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
    int *ready = static_cast<int *>(workspace) + 1;
    int *inclusive = ready + tiles;
    cudaMemsetAsync(workspace, 0, (1 + tiles) * sizeof(int), stream);
    scan<<<tiles, kThreads, 0, stream>>>(in, out, n, ticket, ready, inclusive);
}
