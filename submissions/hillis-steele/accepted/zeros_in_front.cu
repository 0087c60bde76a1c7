// expect: accepted
// As many zeros as the row is long stand in front of each buffer, so that no step needs a condition:
// 10 additions for each of 1024 items, exactly the limit. A block takes every 64th row.
__global__ void scan_rows(const int *in, int *out, int rows, int length)
{
    __shared__ int buffer[2][2 * 1024];
    const int t = threadIdx.x, place = 1024 + t;
    buffer[0][t] = buffer[1][t] = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int turn = 0, sum = t < length ? in[row * length + t] : 0;
        buffer[turn][place] = sum;
        __syncthreads();
        for (int d = 1; d < length; d *= 2) {
            sum += buffer[turn][place - d];
            turn ^= 1;
            buffer[turn][place] = sum;
            __syncthreads();
        }
        if (t < length)
            out[row * length + t] = sum;
        __syncthreads(); // the next row writes into a buffer that may still be read
    }
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows > 0)
        scan_rows<<<rows < 64 ? rows : 64, 1024, 0, stream>>>(in, out, rows, length);
}
