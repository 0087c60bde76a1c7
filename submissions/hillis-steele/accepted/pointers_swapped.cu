// expect: accepted
// The buffers in dynamic shared memory, swapped by pointer. Threads past the end of the row leave
// first, which is allowed: nobody waits for a thread that has exited.
extern __shared__ int buffers[];

__global__ void scan_row(const int *in, int *out, int length)
{
    const int t = threadIdx.x;
    if (t >= length)
        return;
    int *current = buffers, *next = buffers + length;
    const size_t i = size_t(blockIdx.x) * length + t;
    current[t] = in[i];
    __syncthreads();
    for (int d = 1; d < length; d <<= 1) {
        next[t] = t < d ? current[t] : current[t - d] + current[t];
        __syncthreads();
        int *swap = current;
        current = next;
        next = swap;
    }
    out[i] = current[t];
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    const int threads = (length + 31) & ~31;
    if (rows)
        scan_row<<<rows, threads, 2 * length * sizeof(int), stream>>>(in, out, length);
}
