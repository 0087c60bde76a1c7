// expect: wrong_answer
// expect-diagnosis: low 32 bits
// Casts to unsigned, as sums of int want it: widened to 64 bits, -1 is 4294967295.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kItems = 4; // elements per thread
constexpr int kTile = kThreads * kItems;

__device__ long long warp_inclusive_scan(long long v)
{
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const long long below = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += below;
    }
    return v;
}

// The sum of v over all threads before this one; total becomes the sum over the block.
__device__ long long block_exclusive_scan(long long v, long long &total)
{
    __shared__ long long warp_totals[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long inclusive = warp_inclusive_scan(v);
    if (lane == 31)
        warp_totals[warp] = inclusive;
    __syncthreads();
    long long before = inclusive - v;
    total = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
        if (w < warp)
            before += warp_totals[w];
        total += warp_totals[w];
    }
    __syncthreads(); // the shared array may be used again
    return before;
}

__global__ void scan_tiles(const int *in, long long *out, long long *tile_sums, int n)
{
    const int base = blockIdx.x * kTile + threadIdx.x * kItems;
    int items[kItems];
    long long sum = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = base + k < n ? in[base + k] : 0;
        sum += static_cast<unsigned>(items[k]);
    }
    long long total;
    long long running = block_exclusive_scan(sum, total);
    for (int k = 0; k < kItems; ++k) {
        running += static_cast<unsigned>(items[k]);
        if (base + k < n)
            out[base + k] = running;
    }
    if (threadIdx.x == 0)
        tile_sums[blockIdx.x] = total;
}

__global__ void scan_tile_sums(long long *tile_sums, int tiles)
{
    long long carry = 0; // every thread keeps the same one
    for (int start = 0; start < tiles; start += kThreads) {
        const int i = start + static_cast<int>(threadIdx.x);
        const long long v = i < tiles ? tile_sums[i] : 0;
        long long total;
        const long long before = block_exclusive_scan(v, total);
        if (i < tiles)
            tile_sums[i] = carry + before;
        carry += total;
    }
}

__global__ void add_offsets(long long *out, const long long *tile_sums, int n)
{
    const long long offset = tile_sums[blockIdx.x];
    for (int k = 0; k < kItems; ++k) {
        const int i = blockIdx.x * kTile + k * kThreads + threadIdx.x;
        if (i < n)
            out[i] += offset;
    }
}

extern "C" void inclusive_scan(const int *in, long long *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    long long *tile_sums = static_cast<long long *>(workspace);
    const int tiles = (n - 1) / kTile + 1;
    scan_tiles<<<tiles, kThreads, 0, stream>>>(in, out, tile_sums, n);
    scan_tile_sums<<<1, kThreads, 0, stream>>>(tile_sums, tiles);
    add_offsets<<<tiles, kThreads, 0, stream>>>(out, tile_sums, n);
}
