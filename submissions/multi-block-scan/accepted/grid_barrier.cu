// expect: accepted
// expect-finding: co_residency
// One launch of so few blocks that they fit on any card at once, with a barrier over the grid made
// of an atomic counter. Right where they do fit; an ordinary launch does not promise it.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kBlocks = 12;

__device__ int block_exclusive_scan(int v, int &total)
{
    __shared__ int warp_totals[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int inclusive = v;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffff, inclusive, offset);
        if (lane >= offset)
            inclusive += below;
    }
    if (lane == 31)
        warp_totals[warp] = inclusive;
    __syncthreads();
    int before = 0;
    total = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
        before += w < warp ? warp_totals[w] : 0;
        total += warp_totals[w];
    }
    __syncthreads();
    return before + inclusive - v;
}

// Each block adds up its share, waits for the others' sums, and scans its share from there.
__global__ void scan(const int *in, int *out, int n, unsigned *arrived, int *sums)
{
    const int share = (n - 1) / kBlocks + 1, from = min(n, share * (int)blockIdx.x);
    const int to = min(n, from + share);
    int sum = 0, total;
    for (int i = from + threadIdx.x; i < to; i += kThreads)
        sum += in[i];
    block_exclusive_scan(sum, total);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*static_cast<volatile unsigned *>(arrived) < kBlocks)
            ;
        __threadfence();
    }
    __syncthreads();

    int carry = 0;
    for (int b = 0; b < (int)blockIdx.x; ++b)
        carry += sums[b];
    for (int base = from; base < to; base += kThreads) {
        const int i = base + threadIdx.x, v = i < to ? in[i] : 0;
        const int before = block_exclusive_scan(v, total);
        if (i < to)
            out[i] = carry + before;
        carry += total;
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    unsigned *arrived = static_cast<unsigned *>(workspace);
    cudaMemsetAsync(arrived, 0, sizeof(unsigned), stream);
    scan<<<kBlocks, kThreads, 0, stream>>>(in, out, n, arrived,
                                           reinterpret_cast<int *>(arrived + 1));
}
