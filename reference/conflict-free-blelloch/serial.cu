// expect: cost_limit_exceeded
// Conflict-free Blelloch, rung 1: no tree yet, but the definition; one thread walks the rows. Everything the
// other rungs do must give the same numbers. It costs more than the problem allows, since 31 lanes
// of 32 look on.
//
// Contract
//   out[r * length + i] = in[r * length] + ... + in[r * length + i - 1] modulo 2^32, 0 for i = 0;
//   rows >= 0, 1 <= length <= 2048, rows * length <= INT_MAX. rows = 0 launches nothing. Any 4-byte
//   alignment. `in` and `out` must not overlap. Deterministic; all work goes on `stream`.
//
// Method
//   A loop with a running sum that begins anew at every row.
//
// Bytes moved per element: 8 (4 read, 4 written), each by an access of its own. Additions: one.
#include <cstdio>

// Unsigned, because sums wrap: signed overflow is undefined in C++, unsigned is modulo 2^32.
__global__ void scan_serially(const int *in, int *out, int rows, int length)
{
    for (int r = 0; r < rows; r++) {
        unsigned sum = 0;
        for (int i = r * length; i < (r + 1) * length; i++) {
            out[i] = static_cast<int>(sum);
            sum += static_cast<unsigned>(in[i]);
        }
    }
}

// A launch that failed must not pass for one that ran. The error stays for the caller to see.
static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", kernel, cudaGetErrorString(error));
}

extern "C" void conflict_free_scan(const int *in, int *out, int rows, int length, cudaStream_t stream)
{
    if (rows == 0)
        return; // an empty grid is a launch error
    scan_serially<<<1, 1, 0, stream>>>(in, out, rows, length);
    check_launch("scan_serially");
}
