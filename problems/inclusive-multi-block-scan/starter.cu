// Inclusive multi-block scan with wide sums. The rules are in statement.md; hints: judge.sh hint.
//
// This starter compiles, and every block scans its own 256 items. What is missing is the sum of all
// the blocks before it: right up to n = 256, wrong from there on.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void scan_block(const int *in, long long *out, long long *block_sums, int n)
{
    __shared__ long long sums[2][kThreads]; // one buffer is read while the other one is written
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    int from = 0;
    sums[from][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        long long sum = sums[from][t];
        if (t >= distance)
            sum += sums[from][t - distance];
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    if (i < n)
        out[i] = sums[from][t];
    if (t == kThreads - 1)
        block_sums[blockIdx.x] = sums[from][t];
}

extern "C" void inclusive_scan(const int *in, long long *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    long long *block_sums = static_cast<long long *>(workspace);
    const int blocks = (n - 1) / kThreads + 1;
    scan_block<<<blocks, kThreads, 0, stream>>>(in, out, block_sums, n);
    // TODO: scan block_sums (there may be millions), then add to each block what stands before it.
}
