// Histogram of bytes. The rules are in statement.md; hints: ./judge.sh hint histogram
//
// This starter compiles and counts rightly, with one atomic in global memory per byte: too many.
// And there is a mistake in it that shows only without input.

#include <cuda_runtime.h>

__global__ void count_bytes(const unsigned char *in, int *counts, int n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[in[i]], 1); // TODO: in shared memory first
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    if (n == 0)
        return;
    cudaMemsetAsync(counts, 0, 256 * sizeof(int), stream);
    count_bytes<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, counts, n);
}
