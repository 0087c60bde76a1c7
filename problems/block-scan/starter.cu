// Block scan. The rules are in statement.md; hints: judge.sh hint.
//
// This starter compiles. Every warp scans its own 32 items: right up to n = 32, wrong from there on.

#include <cuda_runtime.h>

constexpr int kTile = 1024; // one thread for each item of a tile

__device__ int warp_inclusive_scan(int value)
{
    const int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int below = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance)
            value += below;
    }
    return value;
}

__global__ void scan_tile(const int *in, int *out, int *totals, int n)
{
    const int i = blockIdx.x * kTile + threadIdx.x;
    const int value = i < n ? in[i] : 0;
    const int inclusive = warp_inclusive_scan(value);
    // TODO: add what the warps before this one sum up to.
    if (i < n)
        out[i] = inclusive - value; // without the item itself: exclusive
    if (threadIdx.x == kTile - 1)
        totals[blockIdx.x] = inclusive; // TODO: the sum of the whole tile
}

extern "C" void block_scan(const int *in, int *out, int *totals, int n, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    scan_tile<<<(n - 1) / kTile + 1, kTile, 0, stream>>>(in, out, totals, n);
}
