// expect: run_time_error
// expect-finding: missing_fence
// The look-back reads behind a fence, but value and flag are published by two atomics with no fence
// in between: atomics of one thread to different words may come to others in any order.

#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kItems = 8;
constexpr int kTile = kThreads * kItems;

struct States {
    unsigned *ticket;
    int *flags; // 0 nothing, 1 own count known, 2 everything up to here known
    int *own;
    int *inclusive;
};

__device__ void publish(int *value, int what, int *flag, int meaning)
{
    atomicExch(value, what);
    // Here __threadfence() is missing.
    atomicExch(flag, meaning); // <-- missing_fence
}

__device__ int look_back(const States &s, int tile)
{
    int sum = 0;
    for (int before = tile - 1; before >= 0; before--) {
        int flag;
        while ((flag = *(volatile int *)&s.flags[before]) == 0) {
        }
        __threadfence();
        if (flag == 2)
            return sum + *(volatile int *)&s.inclusive[before];
        sum += *(volatile int *)&s.own[before];
    }
    return sum;
}

__global__ void compact_tiles(const float *in, float *out, int *count, int n, int tiles, States s)
{
    __shared__ int tile_of_block, start_of_tile;
    __shared__ int thread_kept[kThreads];
    __shared__ float gathered[kTile];

    if (threadIdx.x == 0)
        tile_of_block = (int)atomicAdd(s.ticket, 1u);
    __syncthreads();
    const int tile = tile_of_block;
    const long long base = (long long)tile * kTile + threadIdx.x * kItems;

    float items[kItems];
    int kept = 0;
    for (int k = 0; k < kItems; k++) {
        items[k] = base + k < n ? in[base + k] : 0.0f;
        kept += items[k] > 0.0f;
    }

    // Hillis-Steele with two barriers per step.
    thread_kept[threadIdx.x] = kept;
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        const int left = threadIdx.x >= step ? thread_kept[threadIdx.x - step] : 0;
        __syncthreads();
        thread_kept[threadIdx.x] += left;
        __syncthreads();
    }
    const int total = thread_kept[kThreads - 1];

    if (threadIdx.x == 0) {
        publish(&s.own[tile], total, &s.flags[tile], 1);
        const int start = look_back(s, tile);
        publish(&s.inclusive[tile], start + total, &s.flags[tile], 2);
        start_of_tile = start;
        if (tile == tiles - 1)
            *count = start + total;
    }

    int at = thread_kept[threadIdx.x] - kept;
    for (int k = 0; k < kItems; k++)
        if (items[k] > 0.0f)
            gathered[at++] = items[k];
    __syncthreads();
    for (int i = threadIdx.x; i < total; i += kThreads)
        out[start_of_tile + i] = gathered[i];
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    const int tiles = n / kTile + (n % kTile != 0);
    int *words = (int *)workspace;
    States s;
    s.ticket = (unsigned *)words;
    s.flags = words + 1;
    s.own = s.flags + tiles;
    s.inclusive = s.own + tiles;
    cudaMemsetAsync(words, 0, sizeof(int) * (1 + (size_t)tiles), stream);
    compact_tiles<<<tiles, kThreads, 0, stream>>>(in, out, count, n, tiles, s);
}
