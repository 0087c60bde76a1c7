// expect: cost_limit_exceeded
// Single-pass scan, rung 1: one thread walks the array. Read it first: everything the other rungs do
// must give the same numbers. It is a single pass, but costs more accesses than the problem allows,
// since 31 lanes of 32 look on.
//
// Contract
//   out[i] = in[0] + ... + in[i-1] modulo 2^32, out[0] = 0, for 0 <= n <= INT_MAX.
//   n = 0 launches nothing. Any 4-byte alignment. `in` and `out` must not overlap.
//   Deterministic; no workspace is used; all work goes on `stream`.
//
// Method
//   The definition, as a loop with a running sum.
//
// Bytes moved per element: 8 (4 read, 4 written), each by an access of its own.
#include <cstddef>
#include <cstdio>

// Unsigned, because sums wrap: signed overflow is undefined in C++, unsigned is modulo 2^32.
__global__ void scan_serially(const int *in, int *out, int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = static_cast<int>(sum);
        sum += static_cast<unsigned>(in[i]);
    }
}

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
}

extern "C" void single_pass_scan(const int *in, int *out, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace;
    (void)workspace_bytes;
    if (n == 0)
        return; // an empty grid is a launch error
    scan_serially<<<1, 1, 0, stream>>>(in, out, n);
    check_launch("scan_serially");
}
