// expect: accepted
// Compaction, twice: the lower side, then the others behind it. The same kernels with another
// question.

#include <cuda_runtime.h>

constexpr int kTile = 512;

template <bool kLower> __device__ bool is_wanted(int value, int pivot)
{
    return kLower ? value < pivot : value >= pivot;
}

template <bool kLower> __global__ void count_tiles(const int *in, int *counts, int n, int pivot)
{
    __shared__ int wanted;
    if (threadIdx.x == 0)
        wanted = 0;
    __syncthreads();
    const long long i = (long long)blockIdx.x * kTile + threadIdx.x;
    const unsigned votes = __ballot_sync(0xffffffff, i < n && is_wanted<kLower>(in[i], pivot));
    if (threadIdx.x % 32 == 0)
        atomicAdd(&wanted, __popc(votes));
    __syncthreads();
    if (threadIdx.x == 0)
        counts[blockIdx.x] = wanted;
}

__global__ void scan_counts(int *counts, int tiles, int *total)
{
    const int lane = threadIdx.x;
    int carry = 0;
    for (int first = 0; first < tiles; first += 32) {
        const int own = first + lane < tiles ? counts[first + lane] : 0;
        int sum = own;
        for (int offset = 1; offset < 32; offset *= 2) {
            const int up = __shfl_up_sync(0xffffffff, sum, offset);
            sum += lane >= offset ? up : 0;
        }
        if (first + lane < tiles)
            counts[first + lane] = carry + sum - own;
        carry += __shfl_sync(0xffffffff, sum, 31);
    }
    if (lane == 0 && total)
        *total = carry;
}

template <bool kLower>
__global__ void scatter(const int *in, int *out, const int *counts, const int *begin, int n,
                        int pivot)
{
    __shared__ int warp_wanted[kTile / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long i = (long long)blockIdx.x * kTile + threadIdx.x;
    const bool wanted = i < n && is_wanted<kLower>(in[i], pivot);
    const unsigned votes = __ballot_sync(0xffffffff, wanted);
    if (lane == 0)
        warp_wanted[warp] = __popc(votes);
    __syncthreads();
    int place = counts[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++)
        place += warp_wanted[w];
    if (wanted)
        out[(kLower ? 0 : *begin) + place] = in[i];
}

template <bool kLower>
static void compact(const int *in, int *out, int *count, int n, int pivot, int *counts,
                    cudaStream_t stream)
{
    const int tiles = (n - 1) / kTile + 1;
    count_tiles<kLower><<<tiles, kTile, 0, stream>>>(in, counts, n, pivot);
    scan_counts<<<1, 32, 0, stream>>>(counts, tiles, kLower ? count : nullptr);
    scatter<kLower><<<tiles, kTile, 0, stream>>>(in, out, counts, count, n, pivot);
}

extern "C" void partition_below(const int *in, int *out, int *count, int n, int pivot,
                                void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    compact<true>(in, out, count, n, pivot, static_cast<int *>(workspace), stream);
    compact<false>(in, out, count, n, pivot, static_cast<int *>(workspace), stream);
}
