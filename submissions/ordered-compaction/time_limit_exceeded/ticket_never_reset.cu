// expect: time_limit_exceeded
// expect-finding: deadlock
// The ticket lives in a __device__ variable that nobody resets: the second call draws tiles that
// wait for tiles which were drawn in the first.

#include <cuda_runtime.h>

constexpr int kTile = 256;

// Per tile: {0 nothing, 1 own count, 2 everything up to here : 32, count : 32}.
__device__ unsigned long long pack(unsigned what, int count)
{
    return (unsigned long long)what << 32 | (unsigned)count;
}

__device__ unsigned next_tile;

__device__ int look_back(volatile unsigned long long *states, int tile)
{
    int sum = 0;
    for (int before = tile - 1; before >= 0; before--) {
        unsigned long long state;
        do
            state = states[before]; // <-- deadlock
        while (state == 0); // <-- deadlock
        sum += (int)(unsigned)state;
        if (state >> 32 == 2)
            break;
    }
    return sum;
}

__global__ void compact_tiles(const float *in, float *out, int *count, int n, int tiles,
                              volatile unsigned long long *states)
{
    __shared__ int warp_kept[kTile / 32];
    __shared__ int drawn, start;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    if (threadIdx.x == 0)
        drawn = (int)atomicAdd(&next_tile, 1u);
    __syncthreads();
    const int tile = drawn;
    const long long i = (long long)tile * kTile + threadIdx.x;
    const float value = i < n ? in[i] : 0.0f;
    const unsigned votes = __ballot_sync(0xffffffff, value > 0.0f);
    if (lane == 0)
        warp_kept[warp] = __popc(votes);
    __syncthreads();

    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < kTile / 32; w++)
            total += warp_kept[w];
        states[tile] = pack(1, total);
        start = look_back(states, tile);
        states[tile] = pack(2, start + total);
        if (tile == tiles - 1)
            *count = start + total;
    }
    __syncthreads();

    int place = start + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++)
        place += warp_kept[w];
    if (value > 0.0f)
        out[place] = value;
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    const int tiles = n / kTile + (n % kTile != 0);
    unsigned long long *words = nullptr;
    const size_t bytes = sizeof(*words) * (1 << 17); // plenty for a first call
    cudaMallocAsync(&words, bytes, stream);
    cudaMemsetAsync(words, 0, bytes, stream);
    compact_tiles<<<tiles, kTile, 0, stream>>>(in, out, count, n, tiles, words);
    cudaFreeAsync(words, stream);
}
