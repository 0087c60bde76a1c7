// expect: accepted
// The first five steps with shuffles inside warps, the others in two buffers over the block.
__global__ void scan_row(const int *in, int *out, int length)
{
    __shared__ int sums[2][1024];
    const int t = threadIdx.x, lane = t % 32;
    int sum = t < length ? in[blockIdx.x * length + t] : 0;
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= d)
            sum += below;
    }
    // From here on a value stands for everything in its warp up to it; the ends of warps add up.
    int from = 0;
    sums[from][t] = sum;
    __syncthreads();
    for (int d = 32; d < length; d *= 2) {
        // What ends with the last lane of the warp that is d / 32 warps back.
        const int end = t - lane - d + 31;
        sum = sums[from][t];
        if (end >= 0)
            sum += sums[from][end];
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    if (t < length)
        out[blockIdx.x * length + t] = sum;
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows > 0)
        scan_row<<<rows, (length + 31) / 32 * 32, 0, stream>>>(in, out, length);
}
