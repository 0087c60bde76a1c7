// expect: cost_limit_exceeded
// Right, in one buffer: every thread reads, all wait, every thread writes, all wait. Twenty barriers
// for ten steps, where a second buffer saves ten.
__global__ void scan_row(const int *in, int *out, int length)
{
    __shared__ int sums[1024];
    const int t = threadIdx.x;
    const int i = blockIdx.x * length + t;
    sums[t] = t < length ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < length; distance *= 2) {
        const int before = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    if (t < length)
        out[i] = sums[t];
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows > 0)
        scan_row<<<rows, 1024, 0, stream>>>(in, out, length);
}
