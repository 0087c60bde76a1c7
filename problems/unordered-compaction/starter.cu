// Compaction in any order. The rules are in statement.md; hints: ./judge.sh hint
// unordered-compaction
//
// This starter compiles and is right, with one atomic operation per kept item. Make them fewer.

#include <cuda_runtime.h>

__global__ void compact(const float *in, float *out, int *count, int n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const float value = i < n ? in[i] : 0.0f; // 0 is not kept
    if (value > 0.0f) {
        const int place = atomicAdd(count, 1); // TODO: one for the whole warp
        out[place] = value;
    }
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n > 0)
        compact<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, out, count, n);
}
