// Prefix sum of floats. The rules are in statement.md; hints: ./judge.sh hint float-scan
//
// This starter compiles and scans each block of 256 items. What is missing is the sum of the
// blocks before: right up to n = 256, wrong from there on.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void scan_block(const float *in, float *out, int n)
{
    __shared__ float sums[2][kThreads]; // one is read while the other is written
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    int from = 0;
    sums[from][t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        float sum = sums[from][t];
        if (t >= distance)
            sum = sums[from][t - distance] + sum;
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    // TODO: add what all blocks before this one sum up to. In which order, and how exactly?
    if (i < n)
        out[i] = sums[from][t];
}

extern "C" void float_scan(const float *in, float *out, int n, void *workspace,
                           size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    scan_block<<<(n - 1) / kThreads + 1, kThreads, 0, stream>>>(in, out, n);
}
