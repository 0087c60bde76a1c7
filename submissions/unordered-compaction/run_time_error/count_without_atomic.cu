// expect: run_time_error
// expect-finding: data_race
// Lane 0 adds to the count as to any variable: warps overwrite each other.

#include <cuda_runtime.h>

__global__ void compact(const float *in, float *out, int *count, int n)
{
    const int lane = threadIdx.x % 32;
    // A whole warp goes around together, so that all its lanes are there to vote.
    for (int base = blockIdx.x * blockDim.x; base < n; base += blockDim.x * gridDim.x) {
        const int i = base + threadIdx.x;
        const float value = i < n ? in[i] : 0.0f;
        const bool keep = i < n && value > 0.0f;
        const unsigned votes = __ballot_sync(0xffffffff, keep);
        const int rank = __popc(votes & ((1u << lane) - 1));
        int start = 0;
        if (lane == 0 && votes) {
            start = *count;
            *count = start + __popc(votes);
        }
        start = __shfl_sync(0xffffffff, start, 0);
        if (keep)
            out[start + rank] = value;
    }
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n > 0)
        compact<<<64, 256, 0, stream>>>(in, out, count, n);
}
