// expect: wrong_answer
// expect-diagnosis: right in order, not interleaved
// gpu: any - a card may run the lanes of a warp together, and mostly does
// Takes __activemask() for the mask of the lanes that ought to vote. It names those that happen to
// run together, which may be any part of the warp: since Volta lanes have speeds of their own.

#include <cuda_runtime.h>

constexpr int kTile = 512;
constexpr int kWarps = kTile / 32;

__global__ void count_tiles(const float *in, int *tile_counts, int n)
{
    __shared__ int kept;
    if (threadIdx.x == 0)
        kept = 0;
    __syncthreads();
    const long long i = (long long)blockIdx.x * kTile + threadIdx.x;
    const bool keep = i < n && in[i] > 0.0f;
    const unsigned votes = __ballot_sync(0xffffffff, keep);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&kept, __popc(votes));
    __syncthreads();
    if (threadIdx.x == 0)
        tile_counts[blockIdx.x] = kept;
}

// One warp walks over the tiles, 32 at a time.
__global__ void scan_tiles(int *tile_counts, int tiles, int *count)
{
    const int lane = threadIdx.x;
    int carry = 0;
    for (int first = 0; first < tiles; first += 32) {
        const int tile = first + lane;
        const int own = tile < tiles ? tile_counts[tile] : 0;
        int sum = own;
        for (int offset = 1; offset < 32; offset *= 2) {
            const int up = __shfl_up_sync(0xffffffff, sum, offset);
            sum += lane >= offset ? up : 0;
        }
        if (tile < tiles)
            tile_counts[tile] = carry + sum - own;
        carry += __shfl_sync(0xffffffff, sum, 31);
    }
    if (lane == 0)
        *count = carry;
}

__global__ void scatter_tiles(const float *in, float *out, const int *tile_starts, int n)
{
    __shared__ int warp_kept[kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long i = (long long)blockIdx.x * kTile + threadIdx.x;
    const float value = i < n ? in[i] : 0.0f;
    const bool keep = value > 0.0f;
    const unsigned votes = __ballot_sync(__activemask(), keep);
    if (lane == 0)
        warp_kept[warp] = __popc(votes);
    __syncthreads();
    int place = tile_starts[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++)
        place += warp_kept[w];
    if (keep)
        out[place] = value;
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    int *tile_counts = (int *)workspace;
    const int tiles = n / kTile + (n % kTile != 0);
    if (tiles > 0)
        count_tiles<<<tiles, kTile, 0, stream>>>(in, tile_counts, n);
    scan_tiles<<<1, 32, 0, stream>>>(tile_counts, tiles, count);
    if (tiles > 0)
        scatter_tiles<<<tiles, kTile, 0, stream>>>(in, out, tile_counts, n);
}
