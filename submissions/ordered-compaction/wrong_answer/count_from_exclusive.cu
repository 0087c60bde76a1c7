// expect: wrong_answer
// expect-diagnosis: last exclusive prefix
// Takes the count from exclusive[n - 1]: if the last item is kept, it is not counted.

#include <cuda_runtime.h>

constexpr int kThreads = 1024;
constexpr int kItems = 4;

__global__ void compact(const float *in, float *out, int *count, int n)
{
    __shared__ int sums[2][kThreads];
    int carry = 0;
    for (long long first = 0; first < n; first += kThreads * kItems) {
        const long long own = first + threadIdx.x * kItems;
        float items[kItems];
        int kept = 0;
        for (int k = 0; k < kItems; k++) {
            items[k] = own + k < n ? in[own + k] : 0.0f;
            kept += items[k] > 0.0f;
        }
        int from = 0;
        sums[from][threadIdx.x] = kept;
        __syncthreads();
        for (int step = 1; step < kThreads; step *= 2) {
            int sum = sums[from][threadIdx.x];
            if (threadIdx.x >= step)
                sum += sums[from][threadIdx.x - step];
            sums[1 - from][threadIdx.x] = sum;
            from = 1 - from;
            __syncthreads();
        }
        int place = carry + sums[from][threadIdx.x] - kept; // exclusive
        for (int k = 0; k < kItems; k++) {
            if (own + k == n - 1)
                *count = place;
            if (items[k] > 0.0f)
                out[place++] = items[k];
        }
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
