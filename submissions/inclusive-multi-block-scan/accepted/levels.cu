// expect: accepted
// Two buffers in shared memory, level by level: the totals of 512 items each are scanned by the same
// kernel, until one block is left. A template takes int items at the bottom and sums above.
#include <cstddef>

template <typename T>
__global__ void scan_blocks(const T *in, long long *out, long long *totals, int n)
{
    __shared__ long long sums[2][512];
    const int t = threadIdx.x, i = blockIdx.x * 512 + t;
    int from = 0;
    sums[0][t] = i < n ? in[i] : 0;
    for (int d = 1; d < 512; d *= 2, from ^= 1) {
        __syncthreads();
        sums[from ^ 1][t] = sums[from][t] + (t >= d ? sums[from][t - d] : 0);
    }
    if (i < n)
        out[i] = sums[from][t];
    if (t == 511)
        totals[blockIdx.x] = sums[from][t];
}

__global__ void add_before(long long *out, const long long *totals, int n)
{
    const int i = (blockIdx.x + 1) * 512 + threadIdx.x; // nothing stands before the first block
    if (i < n)
        out[i] += totals[blockIdx.x];
}

template <typename T>
static void scan(const T *in, long long *out, int n, long long *spare, cudaStream_t stream)
{
    const int blocks = (n - 1) / 512 + 1;
    scan_blocks<<<blocks, 512, 0, stream>>>(in, out, spare, n);
    if (blocks == 1)
        return;
    scan(spare, spare, blocks, spare + blocks, stream);
    add_before<<<blocks - 1, 512, 0, stream>>>(out, spare, n);
}

extern "C" void inclusive_scan(const int *in, long long *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        scan(in, out, n, static_cast<long long *>(workspace), stream);
}
