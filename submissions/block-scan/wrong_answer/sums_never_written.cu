// expect: wrong_answer
// expect-finding: uninitialized_read
// Eight warps write eight sums, and the first warp scans 32 words: what lies behind the eight was
// never written. It is often 0.
constexpr int kThreads = 256;
constexpr int kItems = 4; // neighbours per thread
constexpr int kTile = kThreads * kItems;

__device__ int warp_inclusive_scan(int v)
{
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += below;
    }
    return v;
}

// The sum of v over all threads before this one; total becomes the sum over the block.
__device__ int block_exclusive_scan(int v, int &total)
{
    __shared__ int warp_totals[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int inclusive = warp_inclusive_scan(v);
    if (lane == 31)
        warp_totals[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        const int sum = warp_inclusive_scan(warp_totals[lane]); // <-- uninitialized_read
        warp_totals[lane] = sum;
    }
    __syncthreads();
    total = warp_totals[31];
    return (warp > 0 ? warp_totals[warp - 1] : 0) + inclusive - v;
}

__global__ void scan_tiles(const int *in, int *out, int *totals, int n)
{
    const int base = blockIdx.x * kTile + threadIdx.x * kItems;
    int items[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = base + k < n ? in[base + k] : 0;
        sum += items[k];
    }
    int total;
    int running = block_exclusive_scan(sum, total);
    for (int k = 0; k < kItems; ++k) {
        if (base + k < n)
            out[base + k] = running;
        running += items[k];
    }
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

extern "C" void block_scan(const int *in, int *out, int *totals, int n, cudaStream_t stream)
{
    if (n == 0)
        return;
    scan_tiles<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, totals, n);
}
