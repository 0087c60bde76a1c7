// expect: accepted
// The states are atomic objects: stored with release, loaded with acquire, which orders the plain sums
// beside them.
#include <cuda/atomic>
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kItems = 8;
constexpr int kTile = kThreads * kItems;

enum : unsigned { kNothing = 0, kPartial = 1, kInclusive = 2 };

// The state of a tile is a word of its own beside two sums.
struct tiles_seen {
    unsigned *state;
    int *partial, *inclusive;

    __device__ cuda::atomic_ref<unsigned, cuda::thread_scope_device> of(int tile) const
    {
        return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(state[tile]);
    }
};

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

__global__ void scan(const int *in, int *out, int n, unsigned *ticket, tiles_seen seen)
{
    __shared__ int tile_index, before;
    const int t = threadIdx.x;
    if (t == 0)
        tile_index = static_cast<int>(atomicAdd(ticket, 1u));
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
        int prefix = 0;
        if (tile > 0) {
            seen.partial[tile] = inclusive;
            seen.of(tile).store(kPartial, cuda::memory_order_release);
            for (int j = tile - 1; j >= 0; --j) {
                unsigned state;
                do {
                    state = seen.of(j).load(cuda::memory_order_acquire);
                } while (state == kNothing);
                if (state == kInclusive) {
                    prefix += seen.inclusive[j];
                    break;
                }
                prefix += seen.partial[j];
            }
        }
        seen.inclusive[tile] = prefix + inclusive;
        seen.of(tile).store(kInclusive, cuda::memory_order_release);
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

extern "C" void single_pass_scan(const int *in, int *out, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    const int tiles = (n - 1) / kTile + 1;
    unsigned *ticket = static_cast<unsigned *>(workspace);
    int *sums = static_cast<int *>(workspace) + 1 + tiles;
    cudaMemsetAsync(ticket, 0, (1 + tiles) * sizeof *ticket, stream); // the sums need not be cleared
    scan<<<tiles, kThreads, 0, stream>>>(in, out, n, ticket, {ticket + 1, sums, sums + tiles});
}
