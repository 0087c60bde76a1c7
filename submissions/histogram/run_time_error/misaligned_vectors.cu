// expect: run_time_error
// expect-finding: misaligned
// Loads 16 bytes at once from an address that is no multiple of 16.

#include <cuda_runtime.h>

constexpr int kBins = 256;
constexpr int kLanes = 32;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes; // each with counters of its own: 8 KiB of shared memory
constexpr int kVector = 16;               // bytes of one load
constexpr int kVectors = 8;               // loads of one thread
constexpr int kTile = kThreads * kVector * kVectors;

__device__ __forceinline__ void warp_count_word(int *warp_counts, unsigned word)
{
#pragma unroll
    for (int byte = 0; byte < 4; byte++)
        atomicAdd(&warp_counts[word >> 8 * byte & 255], 1); // partner: the warp's other lanes
}

// `begin` bytes stand before the first whole vector, `vectors` of those follow, the rest is the
// tail.
__global__ void __launch_bounds__(kThreads)
    count_bytes(const unsigned char *in, int *counts, int n, int begin, int vectors)
{
    __shared__ int warp_counts[kWarps][kBins];
    for (int k = threadIdx.x; k < kWarps * kBins; k += kThreads)
        warp_counts[k / kBins][k % kBins] = 0;
    __syncthreads();

    // Whole vectors.
    int *mine = warp_counts[threadIdx.x / kLanes];
    const uint4 *words = reinterpret_cast<const uint4 *>(in + begin);
#pragma unroll
    for (int k = 0; k < kVectors; k++) {
        const int v = (blockIdx.x * kVectors + k) * kThreads + threadIdx.x;
        if (v < vectors) {
            const uint4 bytes = words[v];
            warp_count_word(mine, bytes.x);
            warp_count_word(mine, bytes.y);
            warp_count_word(mine, bytes.z);
            warp_count_word(mine, bytes.w);
        }
    }
    // Up to 15 bytes before them, and as many behind.
    if (blockIdx.x == 0) {
        const int tail = begin + vectors * kVector;
        if (threadIdx.x < begin)
            atomicAdd(&mine[in[threadIdx.x]], 1);
        if (threadIdx.x < n - tail)
            atomicAdd(&mine[in[tail + threadIdx.x]], 1);
    }
    __syncthreads();

    // One bin per thread.
    int count = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; warp++)
        count += warp_counts[warp][threadIdx.x];
    if (count)
        atomicAdd(&counts[threadIdx.x], count); // partner: the same in the other blocks
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    cudaMemsetAsync(counts, 0, kBins * sizeof(int), stream);
    if (n == 0)
        return;
    const int begin = 0;
    const int vectors = (n - begin) / kVector;
    const int tiles = vectors > 0 ? (vectors - 1) / (kThreads * kVectors) + 1 : 1;
    count_bytes<<<tiles, kThreads, 0, stream>>>(in, counts, n, begin, vectors);
    cudaGetLastError();
}
