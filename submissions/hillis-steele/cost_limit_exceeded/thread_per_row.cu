// expect: cost_limit_exceeded
// Right, and with one addition per item; but every thread walks a row of its own, so that the lanes of
// a warp touch 32 sectors with every access and use 4 bytes of each.
__global__ void scan_rows(const int *in, int *out, int rows, int length)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int sum = 0;
    for (int i = row * length; i < (row + 1) * length; ++i)
        out[i] = sum += in[i];
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows > 0)
        scan_rows<<<(rows - 1) / 64 + 1, 64, 0, stream>>>(in, out, rows, length);
}
