// Hillis-Steele scan. The rules are in statement.md; hints: judge.sh hint.
//
// This starter compiles. It does the first step only: every value is the sum of the last two items
// of its row.

#include <cuda_runtime.h>

constexpr int kThreads = 1024; // the longest row

__global__ void scan_rows(const int *in, int *out, int length)
{
    __shared__ int sums[2][kThreads]; // one buffer is read while the other one is written
    const int t = threadIdx.x;
    const int i = blockIdx.x * length + t;
    sums[0][t] = t < length ? in[i] : 0;
    __syncthreads();
    // TODO: distances 2, 4, 8 ... as long as they reach into the row; the buffers change roles.
    sums[1][t] = sums[0][t] + (t >= 1 ? sums[0][t - 1] : 0);
    if (t < length)
        out[i] = sums[1][t];
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows == 0)
        return; // an empty grid is a launch error
    scan_rows<<<rows, kThreads, 0, stream>>>(in, out, length);
}
