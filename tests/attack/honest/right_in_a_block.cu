// expect: accepted
// By a block that takes 128 elements at a time.
#include "attack.cuh"

__global__ void block_scan(const int *in, int *out, int n)
{
    __shared__ int sums[128];
    int carry = 0, t = threadIdx.x;
    for (int base = 0; base < n; base += 128) {
        int own = base + t < n ? in[base + t] : 0;
        sums[t] = own;
        __syncthreads();
        for (int d = 1; d < 128; d *= 2) {
            int before = t >= d ? sums[t - d] : 0;
            __syncthreads();
            sums[t] += before;
            __syncthreads();
        }
        if (base + t < n)
            out[base + t] = carry + sums[t] - own;
        carry += sums[127];
        __syncthreads();
    }
}

SUBMISSION
{
    if (n > 0)
        block_scan<<<1, 128, 0, stream>>>(in, out, n);
}
