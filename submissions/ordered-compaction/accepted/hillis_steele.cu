// expect: accepted
// One block, 1024 flags at a time, Hillis-Steele with two buffers: one barrier per step is enough.

#include <cuda_runtime.h>

constexpr int kThreads = 1024;

// One block: double-buffered Hillis-Steele over 1024 flags at a time.
__global__ void compact(const float *in, float *out, int *count, int n)
{
    __shared__ int sums[2][kThreads];
    int carry = 0;
    for (int first = 0; first < n; first += kThreads) {
        const int i = first + threadIdx.x;
        const float value = i < n ? in[i] : 0.0f;
        const int flag = value > 0.0f;
        int from = 0;
        sums[from][threadIdx.x] = flag;
        __syncthreads();
        for (int step = 1; step < kThreads; step *= 2) {
            int sum = sums[from][threadIdx.x];
            if (threadIdx.x >= step)
                sum += sums[from][threadIdx.x - step];
            sums[1 - from][threadIdx.x] = sum;
            from = 1 - from;
            __syncthreads();
        }
        const int place = carry + sums[from][threadIdx.x] - flag;
        if (flag)
            out[place] = value;
        if (i == n - 1)
            *count = place + flag;
        carry += sums[from][kThreads - 1];
        __syncthreads();
    }
    if (n == 0 && threadIdx.x == 0)
        *count = 0;
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    compact<<<1, kThreads, 0, stream>>>(in, out, count, n);
}
