// expect: accepted
// A grid of fixed size strides over the bytes.

#include <cuda_runtime.h>

__global__ void count_bytes(const unsigned char *in, int *counts, int n)
{
    __shared__ unsigned mine[256];
    for (int v = threadIdx.x; v < 256; v += blockDim.x)
        mine[v] = 0;
    __syncthreads();
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    for (int v = threadIdx.x; v < 256; v += blockDim.x)
        atomicAdd(&counts[v], int(mine[v]));
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    cudaMemsetAsync(counts, 0, 256 * sizeof(int), stream);
    count_bytes<<<96, 128, 0, stream>>>(in, counts, n);
}
