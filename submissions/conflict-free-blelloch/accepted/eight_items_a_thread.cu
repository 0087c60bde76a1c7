// expect: accepted
// Eight rows of 256 neighbours for 256 threads would need a transposition; four neighbours a thread do
// not: their sums make up a tree of 512 leaves, for which one free word after every 32 is enough.
__device__ int padded(int i)
{
    return i + i / 32;
}

__global__ void scan_row(const int *in, int *out, int length)
{
    __shared__ int tree[512 + 16];
    const int t = threadIdx.x, n = blockDim.x;
    const int base = blockIdx.x * length;
    int x[4];
    for (int k = 0; k < 4; ++k)
        x[k] = 4 * t + k < length ? in[base + 4 * t + k] : 0;
    tree[padded(t)] = x[0] + x[1] + x[2] + x[3];
    int stride = 1;
    for (; stride < n; stride *= 2) {
        __syncthreads();
        const int high = 2 * stride * (t + 1) - 1;
        if (high < n)
            tree[padded(high)] += tree[padded(high - stride)];
    }
    __syncthreads();
    if (t == 0)
        tree[padded(n - 1)] = 0;
    for (stride /= 2; stride > 0; stride /= 2) {
        __syncthreads();
        const int high = 2 * stride * (t + 1) - 1;
        if (high < n) {
            const int before = tree[padded(high)], left = tree[padded(high - stride)];
            tree[padded(high - stride)] = before;
            tree[padded(high)] = before + left;
        }
    }
    __syncthreads();
    int sum = tree[padded(t)];
    for (int k = 0; k < 4; ++k) {
        if (4 * t + k < length)
            out[base + 4 * t + k] = sum;
        sum += x[k];
    }
}

extern "C" void conflict_free_scan(const int *in, int *out, int rows, int length,
                                   cudaStream_t stream)
{
    int threads = 1;
    while (4 * threads < length)
        threads *= 2;
    if (rows > 0)
        scan_row<<<rows, threads, 0, stream>>>(in, out, length);
}
