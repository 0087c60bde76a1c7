// Warp scan with shuffles. The rules are in statement.md; hints: judge.sh hint.
//
// This starter compiles. It does the first of five steps: every value is the sum of the last two
// items of its group.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void scan_groups(const int *in, int *out, int n)
{
    const int lane = threadIdx.x % 32;
    const int i = blockIdx.x * kThreads + threadIdx.x;
    int value = i < n ? in[i] : 0; // lanes without an item take part in the shuffles all the same
    const int below = __shfl_up_sync(0xffffffff, value, 1);
    if (lane >= 1) // lane 0 has nobody below it
        value += below;
    // TODO: four more steps.
    if (i < n)
        out[i] = value;
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n == 0)
        return; // an empty grid is a launch error
    const int blocks = (n - 1) / kThreads + 1;
    scan_groups<<<blocks, kThreads, 0, stream>>>(in, out, n);
}
