// Hillis-Steele, rung 2: a block per row, two buffers.
//
// Contract
//   out[r * length + i] = in[r * length] + ... + in[r * length + i] modulo 2^32, for rows >= 0,
//   1 <= length <= 1024, rows * length <= INT_MAX. rows = 0 launches nothing. Any 4-byte alignment.
//   `in` and `out` must not overlap. Deterministic; all work goes on `stream`.
//
// Method
//   Every step reads one buffer and writes the other, at every place: those with nothing at that
//   distance before them hand on what they have. The barrier after a step separates its writes from
//   the reads of the next, and its reads from the writes after the next change of roles.
//
// Bytes moved per element: 8. Additions: n for each of ceil(log2 n) steps, less what stands too far
// in front: 9.001 for each item of 1024.
#include <cstdio>

constexpr int kThreads = 1024; // the longest row

__global__ void __launch_bounds__(kThreads)
    scan_row(const int *__restrict__ in, int *__restrict__ out, int length)
{
    __shared__ unsigned sums[2][kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * length + t;
    int from = 0;
    if (t < length)
        sums[from][t] = static_cast<unsigned>(in[i]);
    __syncthreads();
    for (int distance = 1; distance < length; distance *= 2) {
        if (t < length) {
            unsigned sum = sums[from][t];
            if (t >= distance)
                sum = sums[from][t - distance] + sum;
            sums[1 - from][t] = sum;
        }
        from = 1 - from;
        __syncthreads();
    }
    if (t < length)
        out[i] = static_cast<int>(sums[from][t]);
}

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
}

extern "C" void hillis_steele(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows == 0)
        return; // an empty grid is a launch error
    const int threads = (length + 31) / 32 * 32;
    scan_row<<<rows, threads, 0, stream>>>(in, out, length);
    check_launch("scan_row");
}
