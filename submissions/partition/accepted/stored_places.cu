// expect: accepted
// Stores how many are below before each item, then scatters.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

// Exclusive sums of "is below the pivot" within each tile, and the tile's total.
__global__ void scan_flags(const int *in, int *below_before, int *tile_counts, int n, int pivot)
{
    __shared__ int sums[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    const unsigned i = blockIdx.x * unsigned{kThreads} + t; // the last tile may reach past 2^31
    const int below = i < unsigned(n) && in[i] < pivot;
    int from = 0;
    sums[from][t] = below;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        int sum = sums[from][t];
        if (t >= distance)
            sum += sums[from][t - distance];
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    if (i < unsigned(n))
        below_before[i] = sums[from][t] - below;
    if (t == kThreads - 1)
        tile_counts[blockIdx.x] = sums[from][t];
}

__global__ void scan_tile_counts(int *tile_counts, int tile_count, int *count)
{
    int sum = 0;
    for (int tile = 0; tile < tile_count; tile++) {
        const int own = tile_counts[tile];
        tile_counts[tile] = sum;
        sum += own;
    }
    *count = sum;
}

__global__ void scatter(const int *in, int *out, const int *below_before, const int *tile_counts,
                        const int *count, int n, int pivot)
{
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    if (i >= unsigned(n))
        return;
    const int below = tile_counts[blockIdx.x] + below_before[i];
    out[in[i] < pivot ? below : *count + (int(i) - below)] = in[i];
}

extern "C" void partition_below(const int *in, int *out, int *count, int n, int pivot,
                                void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    const int tile_count = (n - 1) / kThreads + 1;
    int *below_before = static_cast<int *>(workspace);
    int *tile_counts = below_before + n;
    scan_flags<<<tile_count, kThreads, 0, stream>>>(in, below_before, tile_counts, n, pivot);
    cudaGetLastError();
    scan_tile_counts<<<1, 1, 0, stream>>>(tile_counts, tile_count, count);
    cudaGetLastError();
    scatter<<<tile_count, kThreads, 0, stream>>>(in, out, below_before, tile_counts, count, n,
                                                 pivot);
    cudaGetLastError();
}
