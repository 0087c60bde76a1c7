// Compaction in any order, rung 0: one thread, one loop. The yardstick of every other rung.
//
// Contract: 0 <= n < 2^31; `in` and `out` aligned to 4 bytes, not overlapping; keeps in[i] > 0, so
// NaN and -0.0 go and +infinity and positive subnormals stay; writes *count also for n = 0; leaves
// out[*count .. n) as it was. All work goes on `stream`. In the order of the input, the same on
// every run.
// Method: a running count of what was kept is the place of the next kept item.
// Moves: 4 bytes in, 4 bytes out per kept item; no atomics.

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

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    compact_serially<<<1, 1, 0, stream>>>(in, out, count, n);
    cudaGetLastError();
}
