// Vectorised scan. The rules are in statement.md; hints: judge.sh hint.
//
// This starter compiles. It loads and stores vectors, and scans the four items of each: right up to
// n = 4, wrong from there on.

#include <cuda_runtime.h>

constexpr int kTile = 4096;
constexpr int kThreads = 1024; // a vector of four for each thread

// Four neighbours from i on; those past the end are the neutral 0. i is a multiple of 4.
__device__ int4 load_four(const int *in, int i, int n)
{
    if (i + 4 <= n)
        return *reinterpret_cast<const int4 *>(in + i);
    int4 v = make_int4(0, 0, 0, 0);
    if (i < n)
        v.x = in[i];
    if (i + 1 < n)
        v.y = in[i + 1];
    if (i + 2 < n)
        v.z = in[i + 2];
    return v;
}

__device__ void store_four(int *out, int i, int n, int4 v)
{
    if (i + 4 <= n) {
        *reinterpret_cast<int4 *>(out + i) = v;
        return;
    }
    if (i < n)
        out[i] = v.x;
    if (i + 1 < n)
        out[i + 1] = v.y;
    if (i + 2 < n)
        out[i + 2] = v.z;
}

__global__ void scan_tile(const int *in, int *out, int n)
{
    const int i = blockIdx.x * kTile + 4 * threadIdx.x;
    int4 v = load_four(in, i, n);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    // TODO: what do the threads before this one add up to?
    store_four(out, i, n, v);
}

extern "C" void vectorised_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    scan_tile<<<(n - 1) / kTile + 1, kThreads, 0, stream>>>(in, out, n);
}
