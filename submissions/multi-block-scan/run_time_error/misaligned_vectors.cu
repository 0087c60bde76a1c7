// expect: run_time_error
// expect-finding: misaligned
// Gives every thread an equal run of neighbours and loads it as int4, although a run begins on a
// 16-byte boundary only where its length is a multiple of 4.
#include <cstddef>

constexpr int kThreads = 256;

__global__ void scan_runs(const int *in, int *out, int n)
{
    __shared__ int sums[kThreads];
    const int run = (n - 1) / kThreads + 1;
    const long long begin = static_cast<long long>(threadIdx.x) * run;
    const long long end = begin + run < n ? begin + run : n;

    int sum = 0;
    long long i = begin;
    for (; i + 4 <= end; i += 4) {
        int4 v = *reinterpret_cast<const int4 *>(in + i); // <-- misaligned
        sum += v.x + v.y + v.z + v.w;
    }
    for (; i < end; ++i)
        sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();

    int running = 0;
    for (int t = 0; t < threadIdx.x; ++t)
        running += sums[t];
    for (i = begin; i < end; ++i) {
        out[i] = running;
        running += in[i];
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        scan_runs<<<1, kThreads, 0, stream>>>(in, out, n);
}
