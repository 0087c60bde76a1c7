// Hillis-Steele, rung 3: the running value in a register, short rows side by side in a block.
//
// Contract
//   out[r * length + i] = in[r * length] + ... + in[r * length + i] modulo 2^32, for rows >= 0,
//   1 <= length <= 1024, rows * length <= INT_MAX. rows = 0 launches nothing. Any 4-byte alignment.
//   `in` and `out` must not overlap. Deterministic; all work goes on `stream`.
//
// Method
//   1. A block takes as many whole rows as its threads can hold: 1024 / length.
//   2. A thread keeps its value in a register and shows it in shared memory, so that a step reads
//      one word and writes one; and it stops looking once its distance leaves the row.
//   Rung 2 starts a block of a warp for a row of one item: here 1024 rows share one.
//
// Bytes moved per element: 8. Additions: as in rung 2.
#include <cstdio>

constexpr int kThreads = 1024; // the longest row

__global__ void __launch_bounds__(kThreads)
    scan_rows(const int *__restrict__ in, int *__restrict__ out, int items, int length,
              int rows_per_block)
{
    __shared__ unsigned shown[2][kThreads];
    const int t = threadIdx.x;
    const int place = t % length; // within its row
    // 64 bits: the last block may end past INT_MAX.
    const long long i = static_cast<long long>(blockIdx.x) * rows_per_block * length + t;
    const bool has_item = t < rows_per_block * length && i < items;
    unsigned sum = has_item ? static_cast<unsigned>(in[i]) : 0;
    int into = 0;
    for (int distance = 1; distance < length; distance *= 2) {
        shown[into][t] = sum;
        __syncthreads(); // the other buffer is free once everybody has come here
        if (place >= distance)
            sum = shown[into][t - distance] + sum;
        into = 1 - into;
    }
    if (has_item)
        out[i] = static_cast<int>(sum);
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
    const int rows_per_block = kThreads / length;
    const int threads = (rows_per_block * length + 31) / 32 * 32;
    const int blocks = (rows - 1) / rows_per_block + 1;
    scan_rows<<<blocks, threads, 0, stream>>>(in, out, rows * length, length, rows_per_block);
    check_launch("scan_rows");
}
