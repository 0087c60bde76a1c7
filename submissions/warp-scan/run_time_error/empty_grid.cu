// expect: run_time_error
// expect-finding: cuda_error
// Launches a grid of (n + 255) / 256 blocks without looking at n: none for n = 0, which is an
// invalid configuration, and its error stays behind.
constexpr int kThreads = 256;

__device__ int warp_inclusive_scan(int value)
{
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffff, value, offset);
        if (lane >= offset)
            value += below;
    }
    return value;
}

__global__ void scan_groups(const int *in, int *out, int n)
{
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int value = warp_inclusive_scan(i < n ? in[i] : 0);
    if (i < n)
        out[i] = value;
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_groups<<<(n + kThreads - 1) / kThreads, kThreads, 0, stream>>>(in, out, n);
}
