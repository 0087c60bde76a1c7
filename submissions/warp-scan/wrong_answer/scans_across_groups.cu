// expect: wrong_answer
// expect-diagnosis: run on
// Carries on from group to group inside a block: the statement says that no group knows of another.
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
    __shared__ int totals[kThreads / 32];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    int value = warp_inclusive_scan(i < n ? in[i] : 0);
    if (threadIdx.x % 32 == 31)
        totals[threadIdx.x / 32] = value;
    __syncthreads();
    for (unsigned w = 0; w < threadIdx.x / 32; ++w)
        value += totals[w];
    if (i < n)
        out[i] = value;
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n == 0)
        return;
    scan_groups<<<(n - 1) / kThreads + 1, kThreads, 0, stream>>>(in, out, n);
}
