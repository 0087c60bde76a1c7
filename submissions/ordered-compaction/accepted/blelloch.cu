// expect: accepted
// Work-efficient scan in shared memory, up-sweep and down-sweep. A leaf of the tree is how many of
// four consecutive items are kept; a thread has two leaves.

#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kLeaves = 2 * kThreads;
constexpr int kItems = 4; // of a leaf
constexpr int kTile = kLeaves * kItems;

// Exclusive scan of kLeaves ints in place; the total goes to every thread.
__device__ int blelloch_scan(int *a)
{
    const int t = threadIdx.x;
    for (int step = 1; step < kLeaves; step *= 2) {
        __syncthreads();
        const int right = (2 * t + 2) * step - 1;
        if (right < kLeaves)
            a[right] += a[right - step];
    }
    __syncthreads();
    const int total = a[kLeaves - 1];
    __syncthreads();
    if (t == 0)
        a[kLeaves - 1] = 0;
    for (int step = kLeaves / 2; step > 0; step /= 2) {
        __syncthreads();
        const int right = (2 * t + 2) * step - 1;
        if (right < kLeaves) {
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
    __shared__ int places[kLeaves];
    const long long base = (long long)blockIdx.x * kTile;
    float items[2][kItems];
    for (int leaf = 0; leaf < 2; leaf++) {
        const int at = threadIdx.x + leaf * kThreads;
        int kept = 0;
        for (int k = 0; k < kItems; k++) {
            const long long i = base + at * kItems + k;
            items[leaf][k] = i < n ? in[i] : -1.0f;
            kept += items[leaf][k] > 0.0f;
        }
        places[at] = kept;
    }
    const int total = blelloch_scan(places);
    if (!scatter) {
        if (threadIdx.x == 0)
            tile_totals[blockIdx.x] = total;
        return;
    }
    for (int leaf = 0; leaf < 2; leaf++) {
        int place = tile_totals[blockIdx.x] + places[threadIdx.x + leaf * kThreads];
        for (int k = 0; k < kItems; k++)
            if (items[leaf][k] > 0.0f)
                out[place++] = items[leaf][k];
    }
}

__global__ void scan_totals(int *tile_totals, int tiles, int *count)
{
    __shared__ int chunk[kLeaves];
    int carry = 0;
    for (int first = 0; first < tiles; first += kLeaves) {
        for (int at = threadIdx.x; at < kLeaves; at += kThreads)
            chunk[at] = first + at < tiles ? tile_totals[first + at] : 0;
        const int total = blelloch_scan(chunk);
        for (int at = threadIdx.x; at < kLeaves; at += kThreads)
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
