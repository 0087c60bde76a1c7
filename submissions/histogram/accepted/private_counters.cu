// expect: accepted
// No atomics in shared memory: each of 64 threads has 256 counters of a byte for itself, which is
// enough for the 128 bytes it looks at.

#include <cuda_runtime.h>

constexpr int kThreads = 64;
constexpr int kBytesPerThread = 128; // below 256, so that a byte can count them
constexpr int kBytesPerBlock = kThreads * kBytesPerThread;

__global__ void count_bytes(const unsigned char *in, int *counts, int n)
{
    __shared__ unsigned char mine[256][kThreads];
    for (int v = 0; v < 256; v++)
        mine[v][threadIdx.x] = 0;
    for (int k = 0; k < kBytesPerThread; k++) {
        const unsigned i = (blockIdx.x * kBytesPerThread + k) * unsigned{kThreads} + threadIdx.x;
        if (i < unsigned(n))
            mine[in[i]][threadIdx.x]++;
    }
    __syncthreads();
    for (int v = threadIdx.x; v < 256; v += kThreads) {
        int sum = 0;
        for (int t = 0; t < kThreads; t++)
            sum += mine[v][t];
        if (sum)
            atomicAdd(&counts[v], sum);
    }
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    cudaMemsetAsync(counts, 0, 256 * sizeof(int), stream);
    if (n > 0)
        count_bytes<<<(n - 1) / kBytesPerBlock + 1, kThreads, 0, stream>>>(in, counts, n);
}
