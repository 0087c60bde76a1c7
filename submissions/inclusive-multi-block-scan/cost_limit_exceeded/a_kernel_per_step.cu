// expect: cost_limit_exceeded
// Right, and tidy: widen, scan the blocks, add what stands before them, each a kernel of its own, and
// one level after the other. Every sum is written four times and read four times.
#include <cstddef>

__global__ void widen(const int *in, long long *wide, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        wide[i] = in[i];
}

__global__ void copy(const long long *from, long long *to, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void scan_blocks(long long *sums, long long *totals, int n)
{
    __shared__ long long buffer[2][256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    int from = 0;
    buffer[0][t] = i < n ? sums[i] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        buffer[1 - from][t] = buffer[from][t] + (t >= d ? buffer[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    if (i < n)
        sums[i] = buffer[from][t];
    if (t == 255)
        totals[blockIdx.x] = buffer[from][t];
}

__global__ void add_totals(long long *sums, const long long *totals, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        sums[i] += totals[blockIdx.x - 1];
}

static void scan(long long *sums, int n, long long *spare, cudaStream_t stream)
{
    const int blocks = (n - 1) / 256 + 1;
    scan_blocks<<<blocks, 256, 0, stream>>>(sums, spare, n);
    if (blocks == 1)
        return;
    scan(spare, blocks, spare + blocks, stream);
    add_totals<<<blocks, 256, 0, stream>>>(sums, spare, n);
}

extern "C" void inclusive_scan(const int *in, long long *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    const int blocks = (n - 1) / 256 + 1;
    long long *wide = nullptr;
    if (cudaMallocAsync(&wide, size_t(n) * sizeof *wide, stream) != cudaSuccess)
        return;
    widen<<<blocks, 256, 0, stream>>>(in, wide, n);
    scan(wide, n, static_cast<long long *>(workspace), stream);
    copy<<<blocks, 256, 0, stream>>>(wide, out, n);
    cudaFreeAsync(wide, stream);
}
