// expect: wrong_answer
// Adds to *count without clearing it first: right only where fresh memory happens to be zero.

#include <cuda_runtime.h>

__global__ void compact(const float *in, float *out, int *count, int n)
{
    const int lane = threadIdx.x % 32;
    int start = 0;
    for (int base = blockIdx.x * blockDim.x; base < n; base += blockDim.x * gridDim.x) {
        const int i = base + threadIdx.x;
        const float value = i < n ? in[i] : 0.0f;
        const bool keep = i < n && value > 0.0f; // one warp, so the order is right
        const unsigned votes = __ballot_sync(0xffffffff, keep);
        const int rank = __popc(votes & ((1u << lane) - 1));
        if (keep)
            out[start + rank] = value;
        start += __popc(votes);
        if (lane == 0)
            atomicAdd(count, __popc(votes));
    }
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        compact<<<1, 32, 0, stream>>>(in, out, count, n);
    else
        cudaMemsetAsync(count, 0, sizeof(int), stream);
}
