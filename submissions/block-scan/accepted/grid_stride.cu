// expect: accepted
// A fixed grid whose blocks take tile after tile, and a thread per item: the sums of the warps are
// kept twice, so that one barrier less is needed between tiles.
constexpr int kTile = 1024;

__global__ void scan_tiles(const int *in, int *out, int *totals, int n, int tiles)
{
    __shared__ int sums[2][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int turn = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn ^= 1) {
        const int i = tile * kTile + static_cast<int>(threadIdx.x);
        const int value = i < n ? in[i] : 0;
        int sum = value;
        for (int d = 1; d < 32; d *= 2) {
            const int below = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d)
                sum += below;
        }
        if (lane == 31)
            sums[turn][warp] = sum;
        __syncthreads();
        int of_warps = sums[turn][lane];
        for (int d = 1; d < 32; d *= 2) {
            const int below = __shfl_up_sync(0xffffffffu, of_warps, d);
            if (lane >= d)
                of_warps += below;
        }
        const int up_to = __shfl_sync(0xffffffffu, of_warps, warp ? warp - 1 : 0);
        if (i < n)
            out[i] = (warp ? up_to : 0) + sum - value;
        if (threadIdx.x == kTile - 1)
            totals[tile] = up_to + sum;
    }
}

extern "C" void block_scan(const int *in, int *out, int *totals, int n, cudaStream_t stream)
{
    const int tiles = (n + kTile - 1) / kTile;
    if (tiles)
        scan_tiles<<<tiles < 24 ? tiles : 24, kTile, 0, stream>>>(in, out, totals, n, tiles);
}
