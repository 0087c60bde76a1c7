// Partition, rung 0: one thread, two loops. The yardstick of every other rung.
//
// Contract: 0 <= n < 2^31; `in` and `out` aligned to 4 bytes, not overlapping; in[i] < pivot comes
// first, everything else behind, both in the order of the input; writes *count also for n = 0. The
// same bits on every run. All work goes on `stream`; the workspace is not used.
// Method: one loop for each side.
// Moves: 8 bytes in, 4 bytes out per item.

#include <cuda_runtime.h>

__global__ void partition_serially(const int *in, int *out, int *count, int n, int pivot)
{
    int place = 0;
    for (int i = 0; i < n; i++)
        if (in[i] < pivot)
            out[place++] = in[i];
    *count = place;
    for (int i = 0; i < n; i++)
        if (!(in[i] < pivot))
            out[place++] = in[i];
}

extern "C" void partition_below(const int *in, int *out, int *count, int n, int pivot,
                                void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace;
    (void)workspace_bytes;
    partition_serially<<<1, 1, 0, stream>>>(in, out, count, n, pivot);
    cudaGetLastError();
}
