// expect: cost_limit_exceeded
// Right: reduce, then scan. But every item is read twice, 12 bytes in all.
#include <cstddef>

constexpr int kThreads = 256, kItems = 8, kTile = kThreads * kItems;

// The sum of v over this thread and all before it.
__device__ int block_inclusive_scan(int v)
{
    __shared__ int warp_totals[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += below;
    }
    if (lane == 31)
        warp_totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w)
        v += warp_totals[w];
    return v;
}

__global__ void sum_tiles(const int *in, int *sums, int n)
{
    int sum = 0;
    for (int k = 0; k < kItems; ++k) {
        const int i = blockIdx.x * kTile + k * kThreads + threadIdx.x;
        sum += i < n ? in[i] : 0;
    }
    sum = block_inclusive_scan(sum);
    if (threadIdx.x == kThreads - 1)
        sums[blockIdx.x] = sum;
}

__global__ void scan_sums(int *sums, int tiles)
{
    __shared__ int end;
    int carry = 0;
    for (int start = 0; start < tiles; start += kThreads) {
        const int i = start + static_cast<int>(threadIdx.x);
        const int sum = i < tiles ? sums[i] : 0;
        const int inclusive = block_inclusive_scan(sum);
        if (i < tiles)
            sums[i] = carry + inclusive - sum;
        if (threadIdx.x == kThreads - 1)
            end = inclusive;
        __syncthreads();
        carry += end;
        __syncthreads();
    }
}

__global__ void scan_tiles(const int *in, int *out, const int *before, int n)
{
    const int base = blockIdx.x * kTile + threadIdx.x * kItems;
    int items[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = base + k < n ? in[base + k] : 0;
        sum += items[k];
    }
    int running = before[blockIdx.x] + block_inclusive_scan(sum) - sum;
    for (int k = 0; k < kItems; ++k) {
        if (base + k < n)
            out[base + k] = running;
        running += items[k];
    }
}

extern "C" void single_pass_scan(const int *in, int *out, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    const int tiles = (n - 1) / kTile + 1;
    int *sums = static_cast<int *>(workspace);
    sum_tiles<<<tiles, kThreads, 0, stream>>>(in, sums, n);
    scan_sums<<<1, kThreads, 0, stream>>>(sums, tiles);
    scan_tiles<<<tiles, kThreads, 0, stream>>>(in, out, sums, n);
}
