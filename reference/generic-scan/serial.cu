// Generic scan, rung 0: one thread, one loop. The yardstick of every other rung.
//
// Contract: 0 <= n < 2^31; arrays of n items, aligned to 4 bytes, not overlapping; exclusive:
// element 0 of the outputs is the identity (INT_MIN; scale 1, shift 0); maps wrap modulo 2^32; n =
// 0 launches nothing. The same bits on every run. All work goes on `stream`; the workspace is not
// used.
// Method: the definition: a running maximum, and a running map that each map is put after.
// Moves: 12 bytes in, 12 bytes out per element.

#include <climits>
#include <cuda_runtime.h>

__global__ void scan_serially(const int *values, int *max_before, const unsigned *scale,
                              const unsigned *shift, unsigned *composed_scale,
                              unsigned *composed_shift, int n)
{
    int largest = INT_MIN;
    unsigned a = 1, b = 0; // x becomes a * x + b
    for (int i = 0; i < n; i++) {
        max_before[i] = largest;
        composed_scale[i] = a;
        composed_shift[i] = b;
        largest = values[i] > largest ? values[i] : largest;
        a = scale[i] * a;
        b = scale[i] * b + shift[i];
    }
}

extern "C" void generic_scan(const int *values, int *max_before, const unsigned *scale,
                             const unsigned *shift, unsigned *composed_scale,
                             unsigned *composed_shift, int n, void *workspace,
                             size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace;
    (void)workspace_bytes;
    if (n == 0)
        return;
    scan_serially<<<1, 1, 0, stream>>>(values, max_before, scale, shift, composed_scale,
                                       composed_shift, n);
    cudaGetLastError();
}
