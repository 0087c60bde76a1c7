// expect: time_limit_exceeded
// expect-finding: deadlock
// gpu: wrong_answer - on a card the memory of the barrier happens to let the warps through
// One block scans tile after tile with a cuda::barrier, and no thread waits until the first one has
// initialised it: a warp that is early arrives at what memory held before, and all wait for ever.
#include <cuda/barrier>

constexpr int kTile = 256;
constexpr int kMost = 1 << 16; // what one block is to do

__global__ void scan(const int *in, int *out, int n)
{
    using barrier_t = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier_t bar;
    __shared__ int sums[kTile];
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    // Here __syncthreads() is missing.
    int carry = 0;
    for (int start = 0; start < n; start += kTile) {
        const int i = start + threadIdx.x;
        const int own = i < n ? in[i] : 0;
        sums[threadIdx.x] = own;
        bar.arrive_and_wait(); // <-- deadlock
        for (int step = 1; step < kTile; step *= 2) {
            const int below = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
            bar.arrive_and_wait(); // <-- deadlock
            sums[threadIdx.x] += below;
            bar.arrive_and_wait(); // <-- deadlock
        }
        if (i < n)
            out[i] = carry + sums[threadIdx.x] - own;
        carry += sums[kTile - 1];
        bar.arrive_and_wait(); // <-- deadlock
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0 && n <= kMost)
        scan<<<1, kTile, 0, stream>>>(in, out, n);
}
