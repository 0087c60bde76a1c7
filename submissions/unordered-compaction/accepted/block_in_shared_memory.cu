// expect: accepted
// A block collects its places with atomics in shared memory, which cost little, and asks once for
// all in global memory.

#include <cuda_runtime.h>

__global__ void compact(const float *in, float *out, int *count, int n)
{
    __shared__ int kept, start;
    if (threadIdx.x == 0)
        kept = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float value = i < n ? in[i] : 0.0f;
    int rank = 0;
    if (value > 0.0f)
        rank = atomicAdd(&kept, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        start = atomicAdd(count, kept);
    __syncthreads();
    if (value > 0.0f)
        out[start + rank] = value;
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n > 0)
        compact<<<(n - 1) / 512 + 1, 512, 0, stream>>>(in, out, count, n);
}
