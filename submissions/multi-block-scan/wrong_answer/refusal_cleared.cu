// expect: wrong_answer
// expect-finding: cuda_error
// The last of three kernels has a thread per element of a tile of 4096, which no card launches, and
// nobody looks at the error, only clears it. One tile needs no offset, so small inputs are right.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kItems = 16; // elements per thread
constexpr int kTile = kThreads * kItems;

__device__ __forceinline__ int warp_inclusive_scan(int v)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        int below = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += below;
    }
    return v;
}

// The sum of v over all threads before this one; total becomes the sum over the block.
__device__ int block_exclusive_scan(int v, int &total)
{
    __shared__ int warp_totals[32];
    __shared__ int block_total;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int inclusive = warp_inclusive_scan(v);
    if (lane == 31)
        warp_totals[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        int t = lane < warps ? warp_totals[lane] : 0;
        int s = warp_inclusive_scan(t);
        if (lane < warps)
            warp_totals[lane] = s - t;
        if (lane == 31)
            block_total = s;
    }
    __syncthreads();
    total = block_total;
    int result = warp_totals[warp] + inclusive - v;
    __syncthreads(); // the shared variables may be used again
    return result;
}

__global__ void scan_tiles(const int *in, int *out, int *block_sums, int n)
{
    const int base = blockIdx.x * kTile + threadIdx.x * kItems;
    int items[kItems];
    int thread_sum = 0;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        items[k] = base + k < n ? in[base + k] : 0;
        thread_sum += items[k];
    }
    int total;
    int running = block_exclusive_scan(thread_sum, total);
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        if (base + k < n)
            out[base + k] = running;
        running += items[k];
    }
    if (threadIdx.x == 0)
        block_sums[blockIdx.x] = total;
}

__global__ void scan_block_sums(int *block_sums, int blocks)
{
    int carry = 0; // every thread keeps the same one
    for (int start = 0; start < blocks; start += blockDim.x) {
        int i = start + threadIdx.x;
        int v = i < blocks ? block_sums[i] : 0;
        int total;
        int before = block_exclusive_scan(v, total);
        if (i < blocks)
            block_sums[i] = carry + before;
        carry += total;
    }
}

__global__ void add_offsets(int *__restrict__ out, const int *__restrict__ block_sums, int n)
{
    const int i = blockIdx.x * kTile + threadIdx.x;
    if (i < n)
        out[i] += block_sums[blockIdx.x];
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    int *block_sums = static_cast<int *>(workspace);
    const int blocks = (n - 1) / kTile + 1;
    scan_tiles<<<blocks, kThreads, 0, stream>>>(in, out, block_sums, n);
    scan_block_sums<<<1, kThreads, 0, stream>>>(block_sums, blocks);
    add_offsets<<<blocks, kTile, 0, stream>>>(out, block_sums, n);
    cudaGetLastError(); // a clean slate for whoever comes next
}
