// expect: cost_limit_exceeded
// Right, and without any shuffle: every thread walks a group of its own. Lanes that are 128 bytes
// apart touch 32 sectors with every access, and use 4 bytes of each.
__global__ void scan_groups(const int *in, int *out, int n)
{
    const int begin = 32 * (blockIdx.x * blockDim.x + threadIdx.x);
    int sum = 0;
    for (int i = begin; i < begin + 32 && i < n; ++i) {
        sum += in[i];
        out[i] = sum;
    }
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_groups<<<(n - 1) / (32 * 64) + 1, 64, 0, stream>>>(in, out, n);
}
