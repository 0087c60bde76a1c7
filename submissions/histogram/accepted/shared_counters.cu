// expect: accepted
// Counts in shared memory, 8192 bytes to a block.

#include <cuda_runtime.h>

constexpr int kBins = 256;
constexpr int kThreads = 256;
constexpr int kBytesPerBlock = 8192; // each block adds up to 256 atomics: one per 32 bytes

__global__ void __launch_bounds__(kThreads) count_bytes(const unsigned char *in, int *counts, int n)
{
    __shared__ int block_counts[kBins];
    block_counts[threadIdx.x] = 0;
    __syncthreads();

    // Unsigned: the last block may reach past 2^31.
    const unsigned begin = blockIdx.x * unsigned{kBytesPerBlock};
    const unsigned end = min(begin + kBytesPerBlock, unsigned(n));
    for (unsigned i = begin + threadIdx.x; i < end; i += kThreads)
        atomicAdd(&block_counts[in[i]], 1); // partner: the same in the other threads
    __syncthreads();

    const int count = block_counts[threadIdx.x];
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
