// expect: run_time_error
// expect-finding: divergent_barrier
// The block scan, with its barriers, is called under `if (i < n)`: the threads past the end wait at
// the barrier below it instead.
#include <cstddef>

constexpr int kThreads = 512;

// The sum of v over this thread and all before it; two buffers take turns.
__device__ int block_inclusive_scan(int v)
{
    __shared__ int buffer[2][kThreads];
    const int t = threadIdx.x;
    int from = 0;
    buffer[from][t] = v;
    __syncthreads(); // <-- divergent_barrier
    for (int distance = 1; distance < kThreads; distance *= 2) {
        int sum = buffer[from][t];
        if (t >= distance)
            sum += buffer[from][t - distance];
        from = 1 - from;
        buffer[from][t] = sum;
        __syncthreads(); // <-- divergent_barrier
    }
    return buffer[from][t];
}

__global__ void scan_block(const int *in, int *out, int *totals, int n)
{
    __shared__ int total;
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    if (i < n) {
        int value = in[i];
        int sum = block_inclusive_scan(value);
        out[i] = sum - value;
        if (t == kThreads - 1 || i == n - 1)
            total = sum;
    }
    __syncthreads(); // <-- divergent_barrier
    if (i < n && t == 0)
        totals[blockIdx.x] = total;
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
