// expect: accepted
// A fixed number of blocks; whole warps walk the array, so that every lane is there for every
// shuffle, also in the last group.
__global__ void scan_groups(const int *__restrict__ in, int *__restrict__ out, int n)
{
    const unsigned lane = threadIdx.x & 31;
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned group = blockIdx.x * blockDim.x + (threadIdx.x & ~31u); group < (unsigned)n;
         group += step) {
        const unsigned i = group + lane;
        int sum = i < (unsigned)n ? in[i] : 0;
#pragma unroll
        for (unsigned d = 1; d <= 16; d <<= 1)
            sum += __shfl_up_sync(~0u, sum, d) * (lane >= d);
        if (i < (unsigned)n)
            out[i] = sum;
    }
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_groups<<<32, 512, 0, stream>>>(in, out, n);
}
