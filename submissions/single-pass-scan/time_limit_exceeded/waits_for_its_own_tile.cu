// expect: time_limit_exceeded
// expect-finding: deadlock
// Begins to look at its own tile, which it will publish as inclusive only after having looked: adds its
// own sum first, and in tile 0 waits for ever.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kItems = 8;
constexpr int kTile = kThreads * kItems;

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
        {
            for (int j = tile; j >= 0; --j) {
                unsigned long long word;
                do {
                    word = states[j]; // <-- deadlock
                } while (word >> 32 == kNothing); // <-- deadlock
                prefix += static_cast<int>(word);
                if (word >> 32 == kInclusive)
                    break;
            }
        }
        states[tile] = packed(kInclusive, prefix + inclusive);
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
    unsigned long long *words = static_cast<unsigned long long *>(workspace);
    cudaMemsetAsync(words, 0, (1 + tiles) * sizeof *words, stream);
    scan<<<tiles, kThreads, 0, stream>>>(in, out, n, reinterpret_cast<unsigned *>(words), words + 1);
}
