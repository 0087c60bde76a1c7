// Inclusive scan with wide sums, rung 1: one thread walks the array. Read it first: everything the
// other rungs do must give the same numbers.
//
// Contract
//   out[i] = in[0] + ... + in[i] in 64 bits, for 0 <= n <= INT_MAX. n = 0 launches nothing. Aligned to
//   the elements. `in` and `out` must not overlap.
//   Deterministic; no workspace is used; all work goes on `stream`.
//
// Method
//   The definition, as a loop with a running sum.
//
// Bytes moved per element: 12 (4 read, 8 written), which is the least possible. It is slow because one
// thread of thousands works, and each step waits for the load before it.
#include <cstddef>
#include <cstdio>

__global__ void scan_serially(const int *in, long long *out, int n)
{
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        out[i] = sum;
    }
}

// ---- host --------------------------------------------------------------------------------------

// A call that failed must not pass for one that worked. The error stays for the caller to see.
static bool worked(const char *what)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

extern "C" void inclusive_scan(const int *in, long long *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    (void)workspace;
    (void)workspace_bytes;
    if (n == 0)
        return; // an empty grid is a launch error
    scan_serially<<<1, 1, 0, stream>>>(in, out, n);
    worked("scan_serially");
}
