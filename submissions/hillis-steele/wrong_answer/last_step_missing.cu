// expect: wrong_answer
// expect-diagnosis: only: likely the steps end too early
// The last distance should be the last power of two below length: `<= length / 4` ends one step
// too early.
constexpr int kThreads = 1024;

__global__ void scan_rows(const int *in, int *out, int length)
{
    __shared__ int sums[2][kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * length + t;
    int from = 0;
    sums[from][t] = t < length ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance <= length / 4; distance *= 2) {
        int sum = sums[from][t];
        if (t >= distance)
            sum += sums[from][t - distance];
        from = 1 - from;
        sums[from][t] = sum;
        __syncthreads();
    }
    if (t < length)
        out[i] = sums[from][t];
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows == 0)
        return;
    scan_rows<<<rows, kThreads, 0, stream>>>(in, out, length);
}
