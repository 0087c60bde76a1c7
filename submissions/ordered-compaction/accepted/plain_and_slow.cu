// expect: accepted
// One block and no cleverness: every thread walks its own part of the input twice, first to count,
// then to write. Slow, and right.

#include <cuda_runtime.h>

constexpr int kThreads = 1024;

__global__ void compact(const float *in, float *out, int *count, int n)
{
    __shared__ int starts[kThreads];
    const int t = threadIdx.x;
    const long long part = ((long long)n + kThreads - 1) / kThreads;
    const long long from = min(t * part, (long long)n);
    const long long to = min(from + part, (long long)n);

    int kept = 0;
    for (long long i = from; i < to; i++)
        if (in[i] > 0.0f)
            kept++;
    starts[t] = kept;
    __syncthreads();

    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < kThreads; i++) {
            const int own = starts[i];
            starts[i] = sum;
            sum += own;
        }
        *count = sum;
    }
    __syncthreads();

    int place = starts[t];
    for (long long i = from; i < to; i++)
        if (in[i] > 0.0f)
            out[place++] = in[i];
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    compact<<<1, kThreads, 0, stream>>>(in, out, count, n);
}
