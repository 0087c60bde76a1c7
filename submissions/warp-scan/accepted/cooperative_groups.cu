// expect: accepted
// The same with a tile of cooperative groups, which knows its rank and its mask.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void scan_groups(const int *in, int *out, int n)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    if (i < static_cast<unsigned>(n))
        sum = in[i];
    for (unsigned d = 1; d < warp.size(); d *= 2) {
        const int below = warp.shfl_up(sum, d);
        if (warp.thread_rank() >= d)
            sum = below + sum;
    }
    if (i < static_cast<unsigned>(n))
        out[i] = sum;
}

extern "C" void warp_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n != 0)
        scan_groups<<<(n - 1) / 128 + 1, 128, 0, stream>>>(in, out, n);
}
