// expect: run_time_error
// expect-finding: data_race
// Waits with a plain load: nothing says that another block may change the word, so the compiler
// loads it once and spins on a register, which hangs a card. The word is written and read by plain
// accesses that nothing orders.

#include <cuda_runtime.h>

constexpr int kTile = 256;

// Per tile: {0 nothing, 1 own count, 2 everything up to here : 32, count : 32}.
__device__ unsigned long long pack(unsigned what, int count)
{
    return (unsigned long long)what << 32 | (unsigned)count;
}

__device__ int look_back(unsigned long long *states, int tile)
{
    int sum = 0;
    for (int before = tile - 1; before >= 0; before--) {
        unsigned long long state;
        do
            state = states[before];
        while (state == 0);
        sum += (int)(unsigned)state;
        if (state >> 32 == 2)
            break;
    }
    return sum;
}

__global__ void compact_tiles(const float *in, float *out, int *count, int n, int tiles,
                              unsigned *ticket, unsigned long long *states)
{
    __shared__ int warp_kept[kTile / 32];
    __shared__ int drawn, start;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    if (threadIdx.x == 0)
        drawn = (int)atomicAdd(ticket, 1u);
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
        states[tile] = pack(1, total); // <-- data_race
        start = look_back(states, tile);
        states[tile] = pack(2, start + total); // <-- data_race
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
    const size_t bytes = sizeof(*words) * (1 + (size_t)tiles);
    cudaMallocAsync(&words, bytes, stream);
    cudaMemsetAsync(words, 0, bytes, stream);
    compact_tiles<<<tiles, kTile, 0, stream>>>(in, out, count, n, tiles, (unsigned *)words,
                                               words + 1);
    cudaFreeAsync(words, stream);
}
