// expect: cost_limit_exceeded
// Vectorised scan, rung 1: no vectors, one thread. Read it first: everything the other rungs do must
// give the same numbers. It costs more than the problem allows, since 31 lanes of 32 look on.
//
// Contract
//   out[i] = the sum of in from the start of i's tile of 4096 up to i, modulo 2^32, for
//   0 <= n <= INT_MAX. n = 0 launches nothing. Both arrays are aligned to 16 bytes and do not
//   overlap. Deterministic; all work goes on `stream`.
//
// Method
//   The definition, as a loop with a running sum that begins anew at every tile.
//
// Bytes moved per element: 8 (4 read, 4 written), each by an access of its own.
#include <cstdio>

constexpr int kTile = 4096;

// Unsigned, because sums wrap: signed overflow is undefined in C++, unsigned is modulo 2^32.
__global__ void scan_serially(const int *in, int *out, int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        sum = (i % kTile == 0 ? 0 : sum) + static_cast<unsigned>(in[i]);
        out[i] = static_cast<int>(sum);
    }
}

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
}

extern "C" void vectorised_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    scan_serially<<<1, 1, 0, stream>>>(in, out, n);
    check_launch("scan_serially");
}
