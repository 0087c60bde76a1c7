// expect: accepted
// Three steps inside eights, then the totals of the eights before: shuffles with a width, and one
// from the last lane of each eight.
__global__ void scan_groups(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32, place = lane % 8;
    int sum = i < n ? in[i] : 0;
    for (int d = 1; d < 8; d *= 2) {
        const int below = __shfl_up_sync(0xffffffff, sum, d, 8);
        if (place >= d)
            sum += below;
    }
    int before = 0;
    for (int eight = 0; eight < 3; ++eight) {
        const int total = __shfl_sync(0xffffffff, sum, 8 * eight + 7);
        if (eight < lane / 8)
            before += total;
    }
    if (i < n)
        out[i] = before + sum;
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_groups<<<(n - 1) / 64 + 1, 64, 0, stream>>>(in, out, n);
}
