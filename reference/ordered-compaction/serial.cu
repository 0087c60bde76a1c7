// Ordered compaction, rung 0: one thread, one loop. The yardstick of every other rung.
//
// Contract: 0 <= n < 2^31; `in` and `out` do not overlap and are aligned to 4 bytes; keeps in[i] >
// 0 in the order of the input, so NaN and -0.0 go and +infinity and positive subnormals stay;
// writes *count also for n = 0; leaves out[*count .. n) as it was. The same bits on every run. All
// work goes on `stream`; the workspace is not used.
// Method: a running count of what was kept is the place of the next kept item: an exclusive prefix
// sum of the flags "is kept", done serially.
// Moves: 4 bytes in, 4 bytes out per kept item.

#include <cuda_runtime.h>

__global__ void compact_serially(const float *in, float *out, int *count, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const float value = in[i];
        if (value > 0.0f)
            out[kept++] = value;
    }
    *count = kept;
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace;
    (void)workspace_bytes;
    compact_serially<<<1, 1, 0, stream>>>(in, out, count, n);
    cudaGetLastError();
}
