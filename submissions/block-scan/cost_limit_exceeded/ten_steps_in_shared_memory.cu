// expect: cost_limit_exceeded
// Right: Hillis and Steele over the whole tile, in two buffers. Ten steps take a barrier each, where
// warps on their own need none.
constexpr int kTile = 1024;

__global__ void scan_tile(const int *in, int *out, int *totals, int n)
{
    __shared__ int sums[2][kTile];
    const int t = threadIdx.x;
    const int i = blockIdx.x * kTile + t;
    const int value = i < n ? in[i] : 0;
    int from = 0;
    sums[from][t] = value;
    __syncthreads();
    for (int distance = 1; distance < kTile; distance *= 2) {
        int sum = sums[from][t];
        if (t >= distance)
            sum += sums[from][t - distance];
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    if (i < n)
        out[i] = sums[from][t] - value;
    if (t == kTile - 1)
        totals[blockIdx.x] = sums[from][t];
}

extern "C" void block_scan(const int *in, int *out, int *totals, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_tile<<<(n - 1) / kTile + 1, kTile, 0, stream>>>(in, out, totals, n);
}
