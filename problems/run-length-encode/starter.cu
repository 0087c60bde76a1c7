// Run-length encoding. The rules are in statement.md; hints: ./judge.sh hint run-length-encode
//
// This starter compiles. It finds where runs begin and counts them; which place a run has, and how
// long it is, is missing.

#include <cuda_runtime.h>

__global__ void find_runs(const int *in, int *values, int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool begins = i < n && (i == 0 || in[i] != in[i - 1]);
    const unsigned votes = __ballot_sync(0xffffffff, begins);
    if (threadIdx.x % 32 == 0 && votes)
        atomicAdd(count, __popc(votes));
    // TODO: how many runs begin before mine? values and lengths go there.
}

extern "C" void run_length_encode(const int *in, int *values, int *lengths, int *count, int n,
                                  void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n > 0)
        find_runs<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, values, count, n);
}
