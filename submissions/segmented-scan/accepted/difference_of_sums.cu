// expect: accepted
// A plain scan of the sums, and a running maximum of where heads are: what a segment holds is the
// difference of two prefixes. Sums wrap, so nothing is lost. One block, 1024 items at a time.

#include <cuda_runtime.h>

constexpr int kThreads = 1024;

__global__ void scan_in_one_block(const int *in, const unsigned char *heads, int *out,
                                  unsigned *prefix, int n)
{
    __shared__ unsigned sums[2][kThreads];
    __shared__ int starts[2][kThreads];
    const int t = threadIdx.x;
    unsigned sum_carry = 0;
    int start_carry = 0;
    for (int first = 0; first < n; first += kThreads) {
        const int i = first + t;
        int from = 0;
        sums[0][t] = i < n ? unsigned(in[i]) : 0;
        starts[0][t] = i < n && heads[i] ? i : 0;
        __syncthreads();
        for (int distance = 1; distance < kThreads; distance *= 2) {
            unsigned sum = sums[from][t];
            int start = starts[from][t];
            if (t >= distance) {
                sum += sums[from][t - distance];
                start = max(start, starts[from][t - distance]);
            }
            from = 1 - from;
            sums[from][t] = sum;
            starts[from][t] = start;
            __syncthreads();
        }
        const unsigned sum = sum_carry + sums[from][t];
        const int start = max(start_carry, starts[from][t]);
        if (i < n)
            prefix[i] = sum;
        sum_carry += sums[from][kThreads - 1];
        start_carry = max(start_carry, starts[from][kThreads - 1]);
        __syncthreads(); // now the prefixes of this round can be read by all threads
        if (i < n)
            out[i] = int(sum - (start > 0 ? prefix[start - 1] : 0));
    }
}

extern "C" void segmented_scan(const int *in, const unsigned char *heads, int *out, int n,
                               void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    unsigned *prefix = nullptr;
    cudaMallocAsync(&prefix, sizeof(unsigned) * n, stream);
    scan_in_one_block<<<1, kThreads, 0, stream>>>(in, heads, out, prefix, n);
    cudaFreeAsync(prefix, stream);
}
