// expect: accepted
// No padding: the levels lie one after the other, children of a node side by side, and left and right
// children in arrays of their own. Neighbouring threads touch neighbouring words on every level.
__global__ void scan_row(const int *in, int *out, int length, int leaves)
{
    // Level with m nodes: its left children at [m / 2, m) of one array, its right ones of the other.
    // Half a round of banks between them, since a warp writes to both at once.
    __shared__ int children[2 * 1024 + 16];
    int *left = children, *right = children + 1024 + 16;
    const int t = threadIdx.x;
    in += size_t(blockIdx.x) * length;
    out += size_t(blockIdx.x) * length;
    const int half = leaves / 2;
    int first = 0, second = 0; // the two leaves of this thread: 2t and 2t + 1
    if (2 * t < length)
        first = in[2 * t];
    if (2 * t + 1 < length)
        second = in[2 * t + 1];
    int sum = first + second;
    for (int m = half; m > 1; m /= 2) { // m nodes, thread t has node t
        if (t < m)
            (t & 1 ? right : left)[m / 2 + t / 2] = sum;
        __syncthreads();
        if (t < m / 2)
            sum = left[m / 2 + t] + right[m / 2 + t];
    }
    int before = 0; // of the root
    for (int m = 2; m <= half; m *= 2) {
        if (t < m / 2) {
            const int left_sum = left[m / 2 + t];
            left[m / 2 + t] = before;
            right[m / 2 + t] = before + left_sum;
        }
        __syncthreads();
        if (t < m)
            before = (t & 1 ? right : left)[m / 2 + t / 2];
    }
    if (2 * t < length)
        out[2 * t] = before;
    if (2 * t + 1 < length)
        out[2 * t + 1] = before + first;
}

extern "C" void conflict_free_scan(const int *in, int *out, int rows, int length,
                                   cudaStream_t stream)
{
    int leaves = 2;
    while (leaves < length)
        leaves += leaves;
    if (rows)
        scan_row<<<rows, leaves / 2, 0, stream>>>(in, out, length, leaves);
}
