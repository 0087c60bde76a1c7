// expect: accepted
// One thread per segment: whoever stands at its end walks back to its beginning.

#include <cuda_runtime.h>

__global__ void walk_segments(const int *keys, const float *x, const float *decay, float *y, int n)
{
    int i = int(blockIdx.x * 128u + threadIdx.x);
    if (i >= n || (i + 1 < n && keys[i + 1] == keys[i]))
        return;
    const int key = keys[i];
    float next = 0;
    for (; i >= 0 && keys[i] == key; i--) {
        next = x[i] + decay[i] * next;
        y[i] = next;
    }
}

extern "C" void linear_recurrence(const int *keys, const float *x, const float *decay, float *y,
                                  int n, void *workspace, size_t workspace_bytes,
                                  cudaStream_t stream)
{
    if (n > 0)
        walk_segments<<<(n - 1) / 128 + 1, 128, 0, stream>>>(keys, x, decay, y, n);
}
