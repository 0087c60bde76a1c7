// expect: wrong_answer
// A block strides over the whole input, and counts in 16 bits: 65,536 equal bytes are none.

#include <cuda_runtime.h>

// Two counters in a word; nobody looks whether the lower one carries into the upper one.
__global__ void count_bytes(const unsigned char *in, int *counts, int n)
{
    __shared__ unsigned packed[128];
    if (threadIdx.x < 128)
        packed[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&packed[in[i] / 2], 1u << in[i] % 2 * 16);
    __syncthreads();
    counts[threadIdx.x] = packed[threadIdx.x / 2] >> threadIdx.x % 2 * 16 & 0xffff;
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    count_bytes<<<1, 256, 0, stream>>>(in, counts, n);
}
