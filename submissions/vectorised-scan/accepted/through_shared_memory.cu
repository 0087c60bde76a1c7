// expect: accepted
// Vectors go to shared memory as they come; there every thread takes 16 neighbours of its own, adds
// them up, and writes them back scanned. Accesses to global memory stay wide and without gaps.
constexpr int kThreads = 256, kItems = 16, kTile = kThreads * kItems;

// A word left free after every 32 spreads the runs of 16 over the banks.
__device__ int slot(int i)
{
    return i + i / 32;
}

__global__ void scan_tile(const int *in, int *out, int n)
{
    __shared__ int tile[kTile + kTile / 32];
    __shared__ int sums[8];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const long long base = 1ll * blockIdx.x * kTile;
    for (int k = 4 * t; k < kTile; k += 4 * kThreads) {
        int4 v = make_int4(0, 0, 0, 0);
        if (base + k + 3 < n)
            v = *reinterpret_cast<const int4 *>(in + base + k);
        else
            for (int j = 0; j < 3; ++j)
                if (base + k + j < n)
                    (&v.x)[j] = in[base + k + j];
        for (int j = 0; j < 4; ++j)
            tile[slot(k + j)] = (&v.x)[j];
    }
    __syncthreads();
    int own = 0;
    for (int k = 0; k < kItems; ++k)
        own += tile[slot(t * kItems + k)];
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
        running += tile[slot(t * kItems + k)];
        tile[slot(t * kItems + k)] = running;
    }
    __syncthreads();
    for (int k = 4 * t; k < kTile; k += 4 * kThreads) {
        const int4 v = make_int4(tile[slot(k)], tile[slot(k + 1)], tile[slot(k + 2)], tile[slot(k + 3)]);
        if (base + k + 3 < n)
            *reinterpret_cast<int4 *>(out + base + k) = v;
        else
            for (int j = 0; j < 3; ++j)
                if (base + k + j < n)
                    out[base + k + j] = (&v.x)[j];
    }
}

extern "C" void vectorised_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_tile<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, n);
}
