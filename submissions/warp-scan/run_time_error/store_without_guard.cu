// expect: run_time_error
// expect-finding: out_of_bounds_write
// Stores for every lane: behind the end of out, too.
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
    out[i] = value; // <-- out_of_bounds_write
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n == 0)
        return;
    scan_groups<<<(n - 1) / kThreads + 1, kThreads, 0, stream>>>(in, out, n);
}
