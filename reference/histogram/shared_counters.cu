// Histogram, rung 1: each block counts in shared memory.
//
// Contract: 0 <= n < 2^31; `in` at any byte; all 256 counts are written, also for n = 0. The same
// result on every run. All work goes on `stream`.
// Method: a block clears 256 counters, counts its 8192 bytes with shared atomics, and adds what is
//         not 0 to the global counts.
// Moves: 1 byte in per item, loaded byte by byte; 1 global atomic per 32 bytes.

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
