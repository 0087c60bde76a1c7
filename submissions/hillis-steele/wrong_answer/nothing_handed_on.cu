// expect: wrong_answer
// Threads with nothing to add do not write: the new buffer holds there what it held two steps ago,
// or nothing at all.
constexpr int kThreads = 1024;

__global__ void scan_rows(const int *in, int *out, int length)
{
    __shared__ int sums[2][kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * length + t;
    int from = 0;
    sums[from][t] = t < length ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < length; distance *= 2) {
        if (t >= distance)
            sums[1 - from][t] = sums[from][t] + sums[from][t - distance];
        from = 1 - from;
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
