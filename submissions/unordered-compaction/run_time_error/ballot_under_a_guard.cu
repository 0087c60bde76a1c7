// expect: run_time_error
// expect-finding: warp_sync
// The lanes past the end leave the loop before the others vote with a full mask, and are waited
// for.

#include <cuda_runtime.h>

__global__ void compact(const float *in, float *out, int *count, int n)
{
    const int lane = threadIdx.x % 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned votes = __ballot_sync(0xffffffff, in[i] > 0.0f); // <-- warp_sync
        int start = 0;
        if (lane == 0)
            start = atomicAdd(count, __popc(votes));
        start = __shfl_sync(0xffffffff, start, 0); // <-- warp_sync
        if (in[i] > 0.0f)
            out[start + __popc(votes & ((1u << lane) - 1))] = in[i];
    }
    __syncwarp(); // whoever skipped the branch is still here
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n > 0)
        compact<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, out, count, n);
}
