// expect: cost_limit_exceeded
// Right, with __syncwarp() between reading and writing, but every value goes through shared memory:
// ten times as many accesses as a lane has items.
constexpr int kThreads = 256;

__global__ void scan_groups(const int *in, int *out, int n)
{
    __shared__ int sums[kThreads];
    const int t = threadIdx.x, lane = t % 32;
    const int i = blockIdx.x * kThreads + t;
    int value = i < n ? in[i] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
        sums[t] = value;
        __syncwarp();
        if (lane >= offset)
            value += sums[t - offset];
        __syncwarp();
    }
    if (i < n)
        out[i] = value;
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_groups<<<(n - 1) / kThreads + 1, kThreads, 0, stream>>>(in, out, n);
}
