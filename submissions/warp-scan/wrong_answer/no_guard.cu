// expect: wrong_answer
// expect-diagnosis: its own value
// Adds what the shuffle brings in every lane: the lowest lanes get their own value back, and
// count it again and again.
constexpr int kThreads = 256;

__device__ int warp_inclusive_scan(int value)
{
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffff, value, offset);
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
    if (n == 0)
        return;
    scan_groups<<<(n - 1) / kThreads + 1, kThreads, 0, stream>>>(in, out, n);
}
