// expect: run_time_error
// expect-finding: data_race
// Clears the root without waiting for the last level: it is the thread of the last leaf that clears
// it, not the one that adds it up.
#define PAD(i) ((i) + ((i) >> 5) + ((i) >> 10))

__global__ void scan_row(const int *in, int *out, int length, int n)
{
    __shared__ int tree[2048 + 2048 / 32 + 2048 / 1024];
    const int t = threadIdx.x;
    const int *row_in = in + blockIdx.x * length;
    int *row_out = out + blockIdx.x * length;
    tree[PAD(t)] = t < length ? row_in[t] : 0;
    tree[PAD(t + n / 2)] = t + n / 2 < length ? row_in[t + n / 2] : 0;
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1;
            int bi = offset * (2 * t + 2) - 1;
            tree[PAD(bi)] += tree[PAD(ai)]; // <-- data_race
        }
        offset *= 2;
    }
    if (t == n / 2 - 1)
        tree[PAD(n - 1)] = 0; // <-- data_race
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1;
            int bi = offset * (2 * t + 2) - 1;
            int left = tree[PAD(ai)];
            tree[PAD(ai)] = tree[PAD(bi)];
            tree[PAD(bi)] += left;
        }
    }
    __syncthreads();
    if (t < length)
        row_out[t] = tree[PAD(t)];
    if (t + n / 2 < length)
        row_out[t + n / 2] = tree[PAD(t + n / 2)];
}

extern "C" void conflict_free_scan(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    int n = 2;
    while (n < length)
        n *= 2;
    if (rows > 0)
        scan_row<<<rows, n / 2, 0, stream>>>(in, out, length, n);
}
