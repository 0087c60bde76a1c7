// expect: accepted
// The kept lanes form a group of their own, whose first asks for all of them (cooperative groups).

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void compact(const float *in, float *out, int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !(in[i] > 0.0f))
        return;
    const cg::coalesced_group kept = cg::coalesced_threads();
    int start = 0;
    if (kept.thread_rank() == 0)
        start = atomicAdd(count, int(kept.size()));
    out[kept.shfl(start, 0) + kept.thread_rank()] = in[i];
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n > 0)
        compact<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, out, count, n);
}
