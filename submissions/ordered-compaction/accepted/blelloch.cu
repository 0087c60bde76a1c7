// expect: accepted
// Work-efficient scan of the flags in shared memory, up-sweep and down-sweep, two flags per thread.

#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kTile = 2 * kThreads;

// Exclusive scan of kTile ints in place; the total goes to every thread.
__device__ int blelloch_scan(int *a)
{
    const int t = threadIdx.x;
    for (int step = 1; step < kTile; step *= 2) {
        __syncthreads();
        const int right = (2 * t + 2) * step - 1;
        if (right < kTile)
            a[right] += a[right - step];
    }
    __syncthreads();
    const int total = a[kTile - 1];
    __syncthreads();
    if (t == 0)
        a[kTile - 1] = 0;
    for (int step = kTile / 2; step > 0; step /= 2) {
        __syncthreads();
        const int right = (2 * t + 2) * step - 1;
        if (right < kTile) {
            const int left = a[right - step];
            a[right - step] = a[right];
            a[right] += left;
        }
    }
    __syncthreads();
    return total;
}

__global__ void compact_tiles(const float *in, float *out, int *tile_totals, int n, bool scatter)
{
    __shared__ int places[kTile];
    const long long base = (long long)blockIdx.x * kTile;
    float items[2];
    for (int k = 0; k < 2; k++) {
        const int at = threadIdx.x + k * kThreads;
        items[k] = base + at < n ? in[base + at] : -1.0f;
        places[at] = items[k] > 0.0f ? 1 : 0;
    }
    const int total = blelloch_scan(places);
    if (!scatter) {
        if (threadIdx.x == 0)
            tile_totals[blockIdx.x] = total;
        return;
    }
    const int start = tile_totals[blockIdx.x];
    for (int k = 0; k < 2; k++)
        if (items[k] > 0.0f)
            out[start + places[threadIdx.x + k * kThreads]] = items[k];
}

__global__ void scan_totals(int *tile_totals, int tiles, int *count)
{
    __shared__ int chunk[kTile];
    int carry = 0;
    for (int first = 0; first < tiles; first += kTile) {
        for (int at = threadIdx.x; at < kTile; at += kThreads)
            chunk[at] = first + at < tiles ? tile_totals[first + at] : 0;
        const int total = blelloch_scan(chunk);
        for (int at = threadIdx.x; at < kTile; at += kThreads)
            if (first + at < tiles)
                tile_totals[first + at] = carry + chunk[at];
        carry += total;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *count = carry;
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    int *tile_totals = (int *)workspace;
    const int tiles = n / kTile + (n % kTile != 0);
    if (tiles > 0)
        compact_tiles<<<tiles, kThreads, 0, stream>>>(in, out, tile_totals, n, false);
    scan_totals<<<1, kThreads, 0, stream>>>(tile_totals, tiles, count);
    if (tiles > 0)
        compact_tiles<<<tiles, kThreads, 0, stream>>>(in, out, tile_totals, n, true);
}
