// expect: cost_limit_exceeded
// Right, and without any barrier: every thread walks a tile of its own. Lanes that are 4096 bytes
// apart touch 32 sectors with every access, and use 4 bytes of each.
__global__ void scan_tiles(const int *in, int *out, int *totals, int n, int tiles)
{
    const int tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile >= tiles)
        return;
    int sum = 0;
    for (int i = tile * 1024; i < (tile + 1) * 1024 && i < n; ++i) {
        out[i] = sum;
        sum += in[i];
    }
    totals[tile] = sum;
}

extern "C" void block_scan(const int *in, int *out, int *totals, int n, cudaStream_t stream)
{
    const int tiles = (n + 1023) / 1024;
    if (tiles > 0)
        scan_tiles<<<(tiles + 63) / 64, 64, 0, stream>>>(in, out, totals, n, tiles);
}
