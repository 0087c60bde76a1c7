// expect: run_time_error
// expect-finding: data_race
// No barrier between reading the warps' totals and writing those of the next chunk: a fast warp
// overwrites what a slow one has yet to read. Only the second trip through the loop shows it.
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kChunks = 4; // a block works through its tile 256 elements at a time
constexpr int kTile = kThreads * kChunks;

__global__ void scan_tiles(const int *in, int *out, int *block_sums, int n)
{
    __shared__ int warp_totals[kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int carry = 0;
    for (int c = 0; c < kChunks; ++c) {
        const int i = blockIdx.x * kTile + c * kThreads + threadIdx.x;
        const int v = i < n ? in[i] : 0;
        int inclusive = v;
        for (int offset = 1; offset < 32; offset *= 2) {
            int below = __shfl_up_sync(0xffffffff, inclusive, offset);
            if (lane >= offset)
                inclusive += below;
        }
        if (lane == 31)
            warp_totals[warp] = inclusive; // <-- data_race
        __syncthreads();
        int before = carry;
        for (int w = 0; w < kWarps; ++w) {
            if (w < warp)
                before += warp_totals[w]; // <-- data_race
            carry += warp_totals[w]; // <-- data_race
        }
        if (i < n)
            out[i] = before + inclusive - v;
    }
    if (threadIdx.x == 0)
        block_sums[blockIdx.x] = carry;
}

__global__ void scan_block_sums(int *block_sums, int blocks)
{
    int carry = 0;
    for (int start = 0; start < blocks; start += 32) {
        const int i = start + threadIdx.x;
        const int v = i < blocks ? block_sums[i] : 0;
        int inclusive = v;
        for (int offset = 1; offset < 32; offset *= 2) {
            int below = __shfl_up_sync(0xffffffff, inclusive, offset);
            if (threadIdx.x >= offset)
                inclusive += below;
        }
        if (i < blocks)
            block_sums[i] = carry + inclusive - v;
        carry += __shfl_sync(0xffffffff, inclusive, 31);
    }
}

__global__ void add_offsets(int *out, const int *block_sums, int n)
{
    const int begin = blockIdx.x * kTile + threadIdx.x;
    for (int c = 0; c < kChunks; ++c)
        if (begin + c * kThreads < n)
            out[begin + c * kThreads] += block_sums[blockIdx.x];
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    int *block_sums = static_cast<int *>(workspace);
    const int blocks = (n - 1) / kTile + 1;
    scan_tiles<<<blocks, kThreads, 0, stream>>>(in, out, block_sums, n);
    scan_block_sums<<<1, 32, 0, stream>>>(block_sums, blocks);
    add_offsets<<<blocks, kThreads, 0, stream>>>(out, block_sums, n);
}
