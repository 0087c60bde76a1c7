// expect: accepted
// NVIDIA's own, to compare with.
#include <cub/block/block_scan.cuh>

constexpr int kThreads = 256;
constexpr int kItems = 4;

__global__ void scan_tiles(const int *in, int *out, int *totals, int n)
{
    using scan = cub::BlockScan<int, kThreads>;
    __shared__ typename scan::TempStorage storage;
    const int base = blockIdx.x * kThreads * kItems + threadIdx.x * kItems;
    int items[kItems], total;
    for (int k = 0; k < kItems; ++k)
        items[k] = base + k < n ? in[base + k] : 0;
    scan(storage).ExclusiveSum(items, items, total);
    for (int k = 0; k < kItems; ++k)
        if (base + k < n)
            out[base + k] = items[k];
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

extern "C" void block_scan(const int *in, int *out, int *totals, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_tiles<<<(n - 1) / (kThreads * kItems) + 1, kThreads, 0, stream>>>(in, out, totals, n);
}
