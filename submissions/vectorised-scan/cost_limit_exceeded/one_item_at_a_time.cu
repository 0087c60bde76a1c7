// expect: cost_limit_exceeded
// Right, and four items per thread, but in loads of 4 bytes: four times as many accesses as vectors
// need, each of which touches the sectors of all four again.
constexpr int kThreads = 1024, kItems = 4, kTile = kThreads * kItems;

__global__ void scan_tile(const int *in, int *out, int n)
{
    __shared__ int sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = blockIdx.x * kTile + kItems * threadIdx.x;
    int item[kItems], own = 0;
    for (int k = 0; k < kItems; ++k)
        own += item[k] = first + k < n ? in[first + k] : 0;
    int sum = own;
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= d)
            sum += below;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    int running = sum - own;
    for (int w = 0; w < warp; ++w)
        running += sums[w];
    for (int k = 0; k < kItems; ++k) {
        running += item[k];
        if (first + k < n)
            out[first + k] = running;
    }
}

extern "C" void vectorised_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_tile<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, n);
}
