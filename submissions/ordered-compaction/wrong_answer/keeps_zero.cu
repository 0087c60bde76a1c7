// expect: wrong_answer
// expect-diagnosis: also holds zeros
// Keeps x >= 0, so 0.0 and -0.0 stay.

#include <cuda_runtime.h>

constexpr int kTile = 256;

__device__ bool keeps(float x)
{
    return x >= 0.0f;
}

__device__ int warp_inclusive_scan(int v)
{
    for (int offset = 1; offset < 32; offset *= 2) {
        const int up = __shfl_up_sync(0xffffffff, v, offset);
        if (threadIdx.x % 32 >= offset)
            v += up;
    }
    return v;
}

// What the threads of the block before this one hold.
__device__ int block_exclusive_scan(int v, int &total)
{
    __shared__ int warp_totals[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int inclusive = warp_inclusive_scan(v);
    if (lane == 31)
        warp_totals[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        const int t = lane < warps ? warp_totals[lane] : 0;
        const int s = warp_inclusive_scan(t);
        warp_totals[lane] = s;
    }
    __syncthreads();
    total = warp_totals[warps - 1];
    const int before = warp > 0 ? warp_totals[warp - 1] : 0;
    __syncthreads();
    return before + inclusive - v;
}

__global__ void count_tiles(const float *in, int *tile_counts, int n)
{
    const long long i = (long long)blockIdx.x * kTile + threadIdx.x;
    const int flag = i < n && keeps(in[i]);
    int total;
    block_exclusive_scan(flag, total);
    if (threadIdx.x == 0)
        tile_counts[blockIdx.x] = total;
}

__global__ void scan_tile_counts(int *tile_counts, int tiles, int *count)
{
    int carry = 0;
    for (int first = 0; first < tiles; first += blockDim.x) {
        const int tile = first + threadIdx.x;
        const int own = tile < tiles ? tile_counts[tile] : 0;
        int total;
        const int before = block_exclusive_scan(own, total);
        if (tile < tiles)
            tile_counts[tile] = carry + before;
        carry += total;
    }
    if (threadIdx.x == 0)
        *count = carry;
}

__global__ void scatter_tiles(const float *in, float *out, const int *tile_starts, int n)
{
    const long long i = (long long)blockIdx.x * kTile + threadIdx.x;
    const float value = i < n ? in[i] : 0.0f;
    const int flag = i < n && keeps(value);
    int total;
    const int before = block_exclusive_scan(flag, total);
    if (flag)
        out[tile_starts[blockIdx.x] + before] = value;
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    int *tile_counts = (int *)workspace;
    const int tiles = n / kTile + (n % kTile != 0);
    if (tiles == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    count_tiles<<<tiles, kTile, 0, stream>>>(in, tile_counts, n);
    scan_tile_counts<<<1, 1024, 0, stream>>>(tile_counts, tiles, count);
    scatter_tiles<<<tiles, kTile, 0, stream>>>(in, out, tile_counts, n);
}
