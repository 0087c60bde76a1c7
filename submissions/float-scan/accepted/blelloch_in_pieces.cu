// expect: accepted
// Up-sweep and down-sweep over 1024 items in shared memory, and one block for the whole array,
// with a carry. The own value is added at the end, never taken away.

#include <cuda_runtime.h>

constexpr int kTile = 1024;

__global__ void scan_in_one_block(const float *in, float *out, int n)
{
    __shared__ float tree[kTile];
    __shared__ float total;
    const int t = threadIdx.x;
    double carry = 0;
    for (int first = 0; first < n; first += kTile) {
        const int a = first + t, b = a + kTile / 2;
        const float own_a = a < n ? in[a] : 0, own_b = b < n ? in[b] : 0;
        tree[t] = own_a;
        tree[t + kTile / 2] = own_b;
        for (int width = 1; width < kTile; width *= 2) {
            __syncthreads();
            const int right = (2 * t + 2) * width - 1;
            if (right < kTile)
                tree[right] = tree[right - width] + tree[right];
        }
        __syncthreads();
        if (t == 0) {
            total = tree[kTile - 1];
            tree[kTile - 1] = 0;
        }
        for (int width = kTile / 2; width > 0; width /= 2) {
            __syncthreads();
            const int right = (2 * t + 2) * width - 1;
            if (right < kTile) {
                const float left_sum = tree[right - width];
                tree[right - width] = tree[right];
                tree[right] = tree[right] + left_sum;
            }
        }
        __syncthreads();
        if (a < n)
            out[a] = float(carry + (tree[t] + own_a));
        if (b < n)
            out[b] = float(carry + (tree[t + kTile / 2] + own_b));
        carry += total;
        __syncthreads();
    }
}

extern "C" void float_scan(const float *in, float *out, int n, void *workspace,
                           size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        scan_in_one_block<<<1, kTile / 2, 0, stream>>>(in, out, n);
}
