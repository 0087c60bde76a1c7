// Stable partition. The rules are in statement.md; hints: ./judge.sh hint partition
//
// This starter compiles. Up to 256 items it moves the lower side rightly; the others are missing,
// and so is what the blocks before hold.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void partition_block(const int *in, int *out, int *count, int n, int pivot)
{
    __shared__ int sums[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    const int below = i < n && in[i] < pivot;
    int from = 0;
    sums[from][t] = below;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        int sum = sums[from][t];
        if (t >= distance)
            sum += sums[from][t - distance];
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    const int below_before = sums[from][t] - below; // TODO: in the blocks before this one, too
    if (below)
        out[below_before] = in[i];
    // TODO: where do the others go?
    if (i == n - 1)
        *count = sums[from][t];
}

extern "C" void partition_below(const int *in, int *out, int *count, int n, int pivot,
                                void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    if (n > 0)
        partition_block<<<(n - 1) / kThreads + 1, kThreads, 0, stream>>>(in, out, count, n, pivot);
}
