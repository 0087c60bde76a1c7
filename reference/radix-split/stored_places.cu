// Radix split, rung 1: a scan of stored flags, then a scatter.
//
// Contract: 0 <= n < 2^31; 0 <= bit <= 31; arrays of n items, aligned to 4 bytes, not overlapping;
// pairs whose key has a 0 in that bit come first, both sides in the order of the input; n = 0
// launches nothing. The same bits on every run. All work goes on `stream`; the workspace holds at
// least 4 + 4 * n + 4 * ceil(n / 256) bytes, aligned to 4.
// Method: the definition: how many zeros come before each key, tile by tile; one thread scans the
//         totals of the tiles; every pair goes to its place.
// Moves: 16 bytes in, 12 bytes out per pair: the places are written and read once.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

// Zeros before each key within its tile, and the tile's total.
__global__ void scan_flags(const unsigned *keys, int *zeros_before, int *tile_counts, int n,
                           int bit)
{
    __shared__ int sums[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    const unsigned i = blockIdx.x * unsigned{kThreads} + t; // the last tile may reach past 2^31
    const int zero = i < unsigned(n) && (keys[i] >> bit & 1) == 0;
    int from = 0;
    sums[from][t] = zero;
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
        zeros_before[i] = sums[from][t] - zero;
    if (t == kThreads - 1)
        tile_counts[blockIdx.x] = sums[from][t];
}

__global__ void scan_tile_counts(int *tile_counts, int tile_count, int *zeros)
{
    int sum = 0;
    for (int tile = 0; tile < tile_count; tile++) {
        const int own = tile_counts[tile];
        tile_counts[tile] = sum;
        sum += own;
    }
    *zeros = sum;
}

__global__ void scatter(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                        unsigned *values_out, const int *zeros_before, const int *tile_counts,
                        const int *zeros, int n, int bit)
{
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    if (i >= unsigned(n))
        return;
    const int before = tile_counts[blockIdx.x] + zeros_before[i];
    const int place = (keys[i] >> bit & 1) == 0 ? before : *zeros + (int(i) - before);
    keys_out[place] = keys[i];
    values_out[place] = values[i];
}

extern "C" void radix_split(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                            unsigned *values_out, int n, int bit, void *workspace,
                            size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kThreads + 1;
    int *zeros = static_cast<int *>(workspace);
    int *zeros_before = zeros + 1;
    int *tile_counts = zeros_before + n;
    scan_flags<<<tile_count, kThreads, 0, stream>>>(keys, zeros_before, tile_counts, n, bit);
    cudaGetLastError();
    scan_tile_counts<<<1, 1, 0, stream>>>(tile_counts, tile_count, zeros);
    cudaGetLastError();
    scatter<<<tile_count, kThreads, 0, stream>>>(keys, values, keys_out, values_out, zeros_before,
                                                 tile_counts, zeros, n, bit);
    cudaGetLastError();
}
