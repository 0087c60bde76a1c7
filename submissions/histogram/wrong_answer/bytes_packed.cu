// expect: wrong_answer
// Packs four counters of a byte into a word: the 256th of a value carries into its neighbour.

#include <cuda_runtime.h>

constexpr int kBins = 256;
constexpr int kThreads = 256;
constexpr int kBytesPerBlock = 8192; // each block adds up to 256 atomics: one per 32 bytes

__global__ void __launch_bounds__(kThreads) count_bytes(const unsigned char *in, int *counts, int n)
{
    __shared__ unsigned packed[kBins / 4];
    if (threadIdx.x < kBins / 4)
        packed[threadIdx.x] = 0;
    __syncthreads();

    // Unsigned: the last block may reach past 2^31.
    const unsigned begin = blockIdx.x * unsigned{kBytesPerBlock};
    const unsigned end = min(begin + kBytesPerBlock, unsigned(n));
    for (unsigned i = begin + threadIdx.x; i < end; i += kThreads)
        atomicAdd(&packed[in[i] / 4], 1u << in[i] % 4 * 8);
    __syncthreads();

    const int count = packed[threadIdx.x / 4] >> threadIdx.x % 4 * 8 & 255;
    if (count)
        atomicAdd(&counts[threadIdx.x], count); // partner: the same in the other blocks
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    cudaMemsetAsync(counts, 0, kBins * sizeof(int), stream);
    if (n == 0)
        return;
    count_bytes<<<(n - 1) / kBytesPerBlock + 1, kThreads, 0, stream>>>(in, counts, n);
    cudaGetLastError();
}
