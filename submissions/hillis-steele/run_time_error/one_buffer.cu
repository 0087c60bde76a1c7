// expect: run_time_error
// expect-finding: data_race
// One buffer, one barrier a step: while a thread reads the value before it, its owner is already
// adding to it. Right when threads run in descending order, wrong when they ascend.
constexpr int kThreads = 1024;

__global__ void scan_rows(const int *in, int *out, int length)
{
    __shared__ int sums[kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * length + t;
    sums[t] = t < length ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < length; distance *= 2) {
        if (t >= distance)
            sums[t] += sums[t - distance]; // <-- data_race
        __syncthreads();
    }
    if (t < length)
        out[i] = sums[t];
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows == 0)
        return;
    scan_rows<<<rows, kThreads, 0, stream>>>(in, out, length);
}
