// expect: accepted
// Legal since Volta: threads past the end return before the block's barriers, which then wait for
// the others only. Hillis-Steele per block with two buffers, recursion over the block totals.
#include <cstddef>

constexpr int kThreads = 512;

__global__ void scan_block(const int *in, int *out, int *totals, int n)
{
    __shared__ int buffer[2][kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    if (i >= n)
        return;
    const int value = in[i];
    int from = 0;
    buffer[from][t] = value;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        int sum = buffer[from][t];
        if (t >= distance)
            sum += buffer[from][t - distance];
        from = 1 - from;
        buffer[from][t] = sum;
        __syncthreads();
    }
    out[i] = buffer[from][t] - value;
    if (totals && (t == kThreads - 1 || i == n - 1))
        totals[blockIdx.x] = buffer[from][t];
}

__global__ void add_before(int *out, const int *before, int n)
{
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n)
        return;
    out[i] += before[blockIdx.x];
}

static void scan(const int *in, int *out, int n, int *spare, cudaStream_t stream)
{
    const int blocks = (n - 1) / kThreads + 1;
    scan_block<<<blocks, kThreads, 0, stream>>>(in, out, blocks > 1 ? spare : nullptr, n);
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
