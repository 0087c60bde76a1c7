// expect: cost_limit_exceeded
// One atomic in global memory per byte: right, and a queue for every value.

#include <cuda_runtime.h>

__global__ void count_bytes(const unsigned char *in, int *counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[in[i]], 1);
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    cudaMemsetAsync(counts, 0, 256 * sizeof(int), stream);
    if (n > 0)
        count_bytes<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, counts, n);
}
