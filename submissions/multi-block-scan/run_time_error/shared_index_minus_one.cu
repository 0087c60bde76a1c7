// expect: run_time_error
// expect-finding: out_of_bounds_read
// Thread 0 reads sums[-1] before it decides not to use it: in front of the shared array, with a
// right answer.
#include <cstddef>

constexpr int kThreads = 512;

__global__ void scan_block(const int *in, int *out, int *totals, int n)
{
    __shared__ int sums[kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    sums[t] = i < n ? in[i] : 0;
    for (int distance = 1; distance < kThreads; distance *= 2) {
        __syncthreads();
        int below = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += below;
    }
    __syncthreads();
    int before = sums[t - 1]; // <-- out_of_bounds_read
    if (i < n)
        out[i] = t == 0 ? 0 : before;
    if (t == kThreads - 1)
        totals[blockIdx.x] = sums[t];
}

__global__ void add_before(int *out, const int *before, int n)
{
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n)
        out[i] += before[blockIdx.x];
}

static void scan(const int *in, int *out, int n, int *spare, cudaStream_t stream)
{
    const int blocks = (n - 1) / kThreads + 1;
    scan_block<<<blocks, kThreads, 0, stream>>>(in, out, spare, n);
    if (blocks == 1)
        return;
    scan(spare, spare, blocks, spare + blocks, stream);
    add_before<<<blocks, kThreads, 0, stream>>>(out, spare, n);
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n != 0)
        scan(in, out, n, static_cast<int *>(workspace), stream);
}
