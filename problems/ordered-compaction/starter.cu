// Ordered compaction: keep in[i] > 0, in order. The rules are in statement.md; hints:
// ./judge.sh hint ordered-compaction
//
// This starter compiles and keeps the right items, but every warp asks one counter for its places,
// so the warps come out in whatever order they ask. Where does a warp's first item have to go?

#include <cuda_runtime.h>

__global__ void compact(const float *in, float *out, int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const float value = i < n ? in[i] : 0.0f;
    const bool keep = value > 0.0f;

    const unsigned votes = __ballot_sync(0xffffffff, keep);
    const int rank = __popc(votes & ((1u << lane) - 1)); // kept items before mine, in this warp
    int place = 0;
    if (lane == 0)
        place = atomicAdd(count, __popc(votes)); // TODO: what all warps before this one keep
    place = __shfl_sync(0xffffffff, place, 0);
    if (keep)
        out[place + rank] = value;
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (blocks > 0)
        compact<<<blocks, threads, 0, stream>>>(in, out, count, n);
}
