// expect: cost_limit_exceeded
// Right, and with vectors; but each thread takes 16 neighbours, so that the vectors of two lanes are
// 64 bytes apart in each load: 32 sectors, of which half is used, and again by the next load.
constexpr int kThreads = 256, kItems = 16, kTile = kThreads * kItems;

__global__ void scan_tile(const int *in, int *out, int n)
{
    __shared__ int sums[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = blockIdx.x * kTile + kItems * threadIdx.x;
    int item[kItems], own = 0;
    for (int k = 0; k < kItems; k += 4) {
        if (first + k + 4 <= n) {
            const int4 v = *reinterpret_cast<const int4 *>(in + first + k);
            item[k] = v.x, item[k + 1] = v.y, item[k + 2] = v.z, item[k + 3] = v.w;
        } else {
            for (int j = k; j < k + 4; ++j)
                item[j] = first + j < n ? in[first + j] : 0;
        }
    }
    for (int k = 0; k < kItems; ++k)
        own += item[k];
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
    for (int k = 0; k < kItems; ++k)
        item[k] = running += item[k];
    for (int k = 0; k < kItems; k += 4) {
        if (first + k + 4 <= n)
            *reinterpret_cast<int4 *>(out + first + k) =
                make_int4(item[k], item[k + 1], item[k + 2], item[k + 3]);
        else
            for (int j = k; j < k + 4; ++j)
                if (first + j < n)
                    out[first + j] = item[j];
    }
}

extern "C" void vectorised_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_tile<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, n);
}
