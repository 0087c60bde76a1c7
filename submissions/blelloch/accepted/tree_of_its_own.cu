// expect: accepted
// The levels lie one after the other in shared memory, as in a heap: node k has the children 2k and
// 2k + 1, and the way down adds nothing to left children.
__global__ void scan_row(const int *in, int *out, int length, int leaves)
{
    extern __shared__ int heap[]; // heap[leaves .. 2 * leaves) are the leaves
    const int t = threadIdx.x, threads = blockDim.x;
    in += size_t(blockIdx.x) * length;
    out += size_t(blockIdx.x) * length;
    for (int i = t; i < leaves; i += threads)
        heap[leaves + i] = i < length ? in[i] : 0;
    for (int level = leaves / 2; level > 0; level /= 2) {
        __syncthreads();
        for (int k = level + t; k < 2 * level; k += threads)
            heap[k] = heap[2 * k] + heap[2 * k + 1];
    }
    __syncthreads();
    if (t == 0)
        heap[1] = 0;
    for (int level = 1; level < leaves; level *= 2) {
        __syncthreads();
        for (int k = level + t; k < 2 * level; k += threads) {
            const int left = heap[2 * k];
            heap[2 * k] = heap[k];
            heap[2 * k + 1] = heap[k] + left;
        }
    }
    __syncthreads();
    for (int i = t; i < length; i += threads)
        out[i] = heap[leaves + i];
}

extern "C" void blelloch_scan(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    int leaves = 1;
    while (leaves < length)
        leaves += leaves;
    if (rows)
        scan_row<<<rows, 256, 2 * leaves * sizeof(int), stream>>>(in, out, length, leaves);
}
