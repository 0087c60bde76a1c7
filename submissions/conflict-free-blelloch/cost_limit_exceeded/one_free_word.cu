// expect: cost_limit_exceeded
// Right, and free of conflicts up to 1024 leaves: with 2048 two levels still meet themselves in the
// second half of the row.
#define PAD(i) ((i) + ((i) >> 5))

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
            tree[PAD(bi)] += tree[PAD(ai)];
        }
        offset *= 2;
    }
    if (t == 0)
        tree[PAD(n - 1)] = 0;
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
