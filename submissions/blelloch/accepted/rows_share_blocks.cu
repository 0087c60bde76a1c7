// expect: accepted
// As many rows as fit share a block of 1024 leaves; longer ones have a block of 2048. Threads count
// from the top of the tree down, and each level is a loop over nodes.
template <int kCapacity>
__global__ void scan_rows(const int *in, int *out, int rows, int length, int log_leaves)
{
    __shared__ int tree[kCapacity];
    const int leaves = 1 << log_leaves;
    const int first_row = blockIdx.x * (kCapacity >> log_leaves);
    for (int k = threadIdx.x; k < kCapacity; k += blockDim.x) {
        const int row = first_row + (k >> log_leaves), place = k & (leaves - 1);
        tree[k] = row < rows && place < length ? in[row * length + place] : 0;
    }
    for (int level = 1; level <= log_leaves; ++level) {
        __syncthreads();
        for (int k = threadIdx.x; k < kCapacity >> level; k += blockDim.x) {
            const int right = ((k + 1) << level) - 1;
            tree[right] += tree[right - (1 << (level - 1))];
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < kCapacity >> log_leaves; k += blockDim.x)
        tree[((k + 1) << log_leaves) - 1] = 0;
    for (int level = log_leaves; level > 0; --level) {
        __syncthreads();
        for (int k = threadIdx.x; k < kCapacity >> level; k += blockDim.x) {
            const int right = ((k + 1) << level) - 1, left = right - (1 << (level - 1));
            const int before = tree[right];
            tree[right] = before + tree[left];
            tree[left] = before;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < kCapacity; k += blockDim.x) {
        const int row = first_row + (k >> log_leaves), place = k & (leaves - 1);
        if (row < rows && place < length)
            out[row * length + place] = tree[k];
    }
}

extern "C" void blelloch_scan(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    int log_leaves = 0;
    while (1 << log_leaves < length)
        ++log_leaves;
    if (rows == 0)
        return;
    const int per_block = 1024 >> log_leaves;
    if (per_block > 0)
        scan_rows<1024>
            <<<(rows - 1) / per_block + 1, 256, 0, stream>>>(in, out, rows, length, log_leaves);
    else
        scan_rows<2048><<<rows, 512, 0, stream>>>(in, out, rows, length, log_leaves);
}
