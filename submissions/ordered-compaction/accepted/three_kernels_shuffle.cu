// expect: accepted
// The classic: flags are scanned with shuffles tile by tile, one block scans the tile totals, and
// the third kernel scans the flags again to scatter.

#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kItems = 4;
constexpr int kTile = kThreads * kItems;

__device__ int warp_inclusive_scan(int v)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const int up = __shfl_up_sync(0xffffffff, v, offset);
        if (lane >= offset)
            v += up;
    }
    return v;
}

// What the threads before this one hold, and the total of the block.
__device__ int block_exclusive_scan(int v, int &total)
{
    __shared__ int warp_totals[32];
    __shared__ int block_total;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int inclusive = warp_inclusive_scan(v);
    if (lane == 31)
        warp_totals[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        const int t = lane < warps ? warp_totals[lane] : 0;
        const int s = warp_inclusive_scan(t);
        if (lane < warps)
            warp_totals[lane] = s - t;
        if (lane == warps - 1)
            block_total = s;
    }
    __syncthreads();
    total = block_total;
    const int result = warp_totals[warp] + inclusive - v;
    __syncthreads();
    return result;
}

__global__ void count_tiles(const float *in, int *tile_totals, int n)
{
    const long long base = (long long)blockIdx.x * kTile + threadIdx.x * kItems;
    int kept = 0;
    for (int k = 0; k < kItems; k++)
        kept += base + k < n && in[base + k] > 0.0f;
    int total;
    block_exclusive_scan(kept, total);
    if (threadIdx.x == 0)
        tile_totals[blockIdx.x] = total;
}

__global__ void scan_totals(int *tile_totals, int tiles, int *count)
{
    int carry = 0;
    for (int start = 0; start < tiles; start += blockDim.x) {
        const int i = start + threadIdx.x;
        const int v = i < tiles ? tile_totals[i] : 0;
        int total;
        const int before = block_exclusive_scan(v, total);
        if (i < tiles)
            tile_totals[i] = carry + before;
        carry += total;
    }
    if (threadIdx.x == 0)
        *count = carry;
}

__global__ void scatter(const float *in, float *out, const int *tile_starts, int n)
{
    const long long base = (long long)blockIdx.x * kTile + threadIdx.x * kItems;
    float items[kItems];
    int kept = 0;
    for (int k = 0; k < kItems; k++) {
        items[k] = base + k < n ? in[base + k] : 0.0f;
        kept += items[k] > 0.0f;
    }
    int total;
    int place = tile_starts[blockIdx.x] + block_exclusive_scan(kept, total);
    for (int k = 0; k < kItems; k++)
        if (items[k] > 0.0f)
            out[place++] = items[k];
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    int *tile_totals = (int *)workspace;
    const int tiles = n / kTile + (n % kTile != 0);
    if (tiles > 0)
        count_tiles<<<tiles, kThreads, 0, stream>>>(in, tile_totals, n);
    scan_totals<<<1, 1024, 0, stream>>>(tile_totals, tiles, count);
    if (tiles > 0)
        scatter<<<tiles, kThreads, 0, stream>>>(in, out, tile_totals, n);
}
