// expect: accepted
// Tiles come from a ticket, and each waits for the sum of the one before: one pass. A fence stands
// between the sum and its flag.

#include <cuda_runtime.h>

constexpr int kTile = 512;

__global__ void scan_tiles(const float *in, float *out, int n, unsigned *ticket,
                           volatile unsigned *flags, volatile float *sums)
{
    __shared__ float scan[2][kTile];
    __shared__ unsigned drawn;
    __shared__ float before;
    const int t = threadIdx.x;
    if (t == 0)
        drawn = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned tile = drawn, i = tile * kTile + t;
    int from = 0;
    scan[from][t] = i < unsigned(n) ? in[i] : 0.0f;
    __syncthreads();
    for (int distance = 1; distance < kTile; distance *= 2) {
        float sum = scan[from][t];
        if (t >= distance)
            sum = scan[from][t - distance] + sum;
        from = 1 - from;
        scan[from][t] = sum;
        __syncthreads();
    }
    if (t == 0) {
        float sum = 0;
        if (tile > 0) {
            while (flags[tile - 1] == 0) {
            }
            __threadfence();
            sum = sums[tile - 1];
        }
        before = sum;
        sums[tile] = sum + scan[from][kTile - 1];
        __threadfence();
        flags[tile] = 1;
    }
    __syncthreads();
    if (i < unsigned(n))
        out[i] = before + scan[from][t];
}

extern "C" void float_scan(const float *in, float *out, int n, void *workspace,
                           size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    const unsigned tiles = (n - 1) / kTile + 1;
    unsigned *words = static_cast<unsigned *>(workspace);
    cudaMemsetAsync(words, 0, sizeof(unsigned) * (1 + tiles), stream);
    scan_tiles<<<tiles, kTile, 0, stream>>>(in, out, n, words, words + 1,
                                            reinterpret_cast<float *>(words + 1 + tiles));
}
