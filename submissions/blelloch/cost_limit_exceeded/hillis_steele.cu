// expect: cost_limit_exceeded
// Right: Hillis and Steele, two items a thread. Few steps, but eleven additions for each of 2048 items.
__global__ void scan_row(const int *in, int *out, int length)
{
    __shared__ int sums[2][2048];
    const int row = blockIdx.x * length, t = threadIdx.x, threads = blockDim.x;
    int from = 0;
    for (int i = t; i < length; i += threads)
        sums[from][i] = i > 0 ? in[row + i - 1] : 0;
    for (int d = 1; d < length; d *= 2, from ^= 1) {
        __syncthreads();
        for (int i = t; i < length; i += threads)
            sums[from ^ 1][i] = sums[from][i] + (i >= d ? sums[from][i - d] : 0);
    }
    __syncthreads();
    for (int i = t; i < length; i += threads)
        out[row + i] = sums[from][i];
}

extern "C" void blelloch_scan(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows > 0)
        scan_row<<<rows, 512, 0, stream>>>(in, out, length);
}
