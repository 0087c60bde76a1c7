// expect: accepted
// One cooperative launch. Every block owns one contiguous share of the array: it adds the share up,
// the whole grid synchronises, and then the block scans its share starting from the sum of the
// shares before it. Warp scans and reductions come from cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstddef>

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// The sum of v over the threads of the block; every thread gets it.
__device__ int block_sum(const cg::thread_block &block, const cg::thread_block_tile<32> &warp,
                         int v)
{
    __shared__ int sums[kWarps];
    v = cg::reduce(warp, v, cg::plus<int>());
    if (warp.thread_rank() == 0)
        sums[warp.meta_group_rank()] = v;
    block.sync();
    int total = 0;
    for (int w = 0; w < kWarps; ++w)
        total += sums[w];
    block.sync();
    return total;
}

__global__ void scan(const int *in, int *out, int n, int share, int *share_sums)
{
    const cg::grid_group grid = cg::this_grid();
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ int warp_sums[kWarps];
    const long long begin = static_cast<long long>(blockIdx.x) * share;
    const long long end = begin + share < n ? begin + share : n;

    int sum = 0;
    for (long long i = begin + threadIdx.x; i < end; i += kThreads)
        sum += in[i];
    sum = block_sum(block, warp, sum);
    if (threadIdx.x == 0)
        share_sums[blockIdx.x] = sum;
    grid.sync();

    int before = 0;
    for (int b = threadIdx.x; b < blockIdx.x; b += kThreads)
        before += share_sums[b];
    int carry = block_sum(block, warp, before);

    for (long long start = begin; start < end; start += kThreads) {
        const long long i = start + threadIdx.x;
        const int value = i < end ? in[i] : 0;
        const int inclusive = cg::inclusive_scan(warp, value, cg::plus<int>());
        if (warp.thread_rank() == 31)
            warp_sums[warp.meta_group_rank()] = inclusive;
        block.sync();
        int offset = carry;
        for (int w = 0; w < kWarps; ++w) {
            if (w == warp.meta_group_rank() && i < end)
                out[i] = offset + inclusive - value;
            offset += warp_sums[w];
        }
        carry = offset;
        block.sync();
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    int device = 0, sms = 0, per_sm = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, scan, kThreads, 0);

    // As many blocks as can be resident, but none with less than 1024 elements.
    int blocks = sms * per_sm;
    if (blocks > (n - 1) / 1024 + 1)
        blocks = (n - 1) / 1024 + 1;
    int share = (n - 1) / blocks + 1;
    int *share_sums = static_cast<int *>(workspace);
    void *arguments[] = {&in, &out, &n, &share, &share_sums};
    cudaLaunchCooperativeKernel(scan, dim3(blocks), dim3(kThreads), arguments, 0, stream);
}
