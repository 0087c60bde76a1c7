// Float scan, rung 1: scan each tile, scan the sums of the tiles, add them to every element.
//
// Contract: 0 <= n < 2^31; `in` and `out` aligned to 4 bytes, not overlapping; inclusive;
// infinities of one sign and no NaN; n = 0 launches nothing. The same bits on every run. All work
// goes on `stream`; the workspace holds at least 8 * ceil(n / 256) bytes, aligned to 8.
// Method: 1. scan_tiles: Hillis-Steele in shared memory with two buffers. 2. scan_tile_sums: one
//         thread; its chain is n / 256 long, so it runs in double precision. 3. add_before_tiles:
//         one addition per element.
// Moves: 8 bytes in, 8 bytes out per element.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void scan_tiles(const float *in, float *out, double *tile_sums, int n)
{
    __shared__ float sums[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    const unsigned i = blockIdx.x * unsigned{kThreads} + t; // the last tile may reach past 2^31
    int from = 0;
    sums[from][t] = i < unsigned(n) ? in[i] : 0.0f;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        float sum = sums[from][t];
        if (t >= distance)
            sum = sums[from][t - distance] + sum;
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    if (i < unsigned(n))
        out[i] = sums[from][t];
    if (t == kThreads - 1)
        tile_sums[blockIdx.x] = sums[from][t];
}

__global__ void scan_tile_sums(double *tile_sums, int tile_count)
{
    double before = 0;
    for (int tile = 0; tile < tile_count; tile++) {
        const double sum = tile_sums[tile];
        tile_sums[tile] = before;
        before += sum;
    }
}

__global__ void add_before_tiles(float *out, const double *before_tiles, int n)
{
    const unsigned i = blockIdx.x * unsigned{kThreads} + threadIdx.x;
    if (i < unsigned(n))
        out[i] = float(before_tiles[blockIdx.x] + out[i]);
}

extern "C" void float_scan(const float *in, float *out, int n, void *workspace,
                           size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace_bytes;
    if (n == 0)
        return;
    const int tile_count = (n - 1) / kThreads + 1;
    double *tile_sums = static_cast<double *>(workspace);
    scan_tiles<<<tile_count, kThreads, 0, stream>>>(in, out, tile_sums, n);
    cudaGetLastError();
    scan_tile_sums<<<1, 1, 0, stream>>>(tile_sums, tile_count);
    cudaGetLastError();
    add_before_tiles<<<tile_count, kThreads, 0, stream>>>(out, tile_sums, n);
    cudaGetLastError();
}
