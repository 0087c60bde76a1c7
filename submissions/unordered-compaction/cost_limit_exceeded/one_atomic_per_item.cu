// expect: cost_limit_exceeded
// Right, but each kept item asks for its own place.

#include <cuda_runtime.h>

__global__ void compact(const float *in, float *out, int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0.0f)
        out[atomicAdd(count, 1)] = in[i];
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n > 0)
        compact<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, out, count, n);
}
