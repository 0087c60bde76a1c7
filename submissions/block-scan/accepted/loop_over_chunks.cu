// expect: accepted
// A block takes its tile in chunks of 512, and carries the sum of the chunks so far in a register of
// every thread. The third barrier lets the next chunk reuse the sums of the warps.
constexpr int kThreads = 512;
constexpr int kTile = 1024;

__global__ void scan_tiles(const int *in, int *out, int *totals, int n)
{
    __shared__ int warp_sums[kThreads / 32];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int carry = 0;
    for (int chunk = 0; chunk < kTile; chunk += kThreads) {
        const long long i = 1ll * blockIdx.x * kTile + chunk + t;
        const int value = i < n ? in[i] : 0;
        int sum = value;
        for (int d = 1; d < 32; d *= 2) {
            const int below = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? below : 0;
        }
        if (lane == 31)
            warp_sums[warp] = sum;
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < kThreads / 32; ++w) {
            before += w < warp ? warp_sums[w] : 0;
            all += warp_sums[w];
        }
        if (i < n)
            out[i] = carry + before + sum - value;
        carry += all;
        __syncthreads();
    }
    if (t == 0)
        totals[blockIdx.x] = carry;
}

extern "C" void block_scan(const int *in, int *out, int *totals, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_tiles<<<(n + kTile - 1) / kTile, kThreads, 0, stream>>>(in, out, totals, n);
}
