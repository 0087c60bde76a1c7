// expect: wrong_answer
// Adds only where t > distance: what stands just `distance` before is left out at that place.
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
        int sum = sums[from][t];
        if (t > distance)
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
