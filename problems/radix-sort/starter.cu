// Radix sort. The rules are in statement.md; hints: ./judge.sh hint radix-sort
//
// This starter compiles, and sorts up to 256 pairs rightly: one block, one split per bit. More
// pairs need more blocks, and places that all of them agree on.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void sort_block(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                           unsigned *values_out, int n)
{
    __shared__ unsigned sorted_keys[kThreads], sorted_values[kThreads];
    __shared__ int sums[2][kThreads];
    const int t = threadIdx.x;
    unsigned key = t < n ? keys[t] : 0xffffffffu; // the largest: stays behind all pairs
    unsigned value = t < n ? values[t] : 0;
    for (int bit = 0; bit < 32; bit++) {
        const int zero = (key >> bit & 1) == 0;
        int from = 0;
        sums[from][t] = zero;
        __syncthreads();
        for (int distance = 1; distance < kThreads; distance *= 2) {
            int sum = sums[from][t];
            if (t >= distance)
                sum += sums[from][t - distance];
            from = 1 - from;
            sums[from][t] = sum;
            __syncthreads();
        }
        const int before = sums[from][t] - zero;
        const int place = zero ? before : sums[from][kThreads - 1] + t - before;
        sorted_keys[place] = key;
        sorted_values[place] = value;
        __syncthreads();
        key = sorted_keys[t];
        value = sorted_values[t];
        __syncthreads();
    }
    if (t < n) {
        keys_out[t] = key;
        values_out[t] = value;
    }
}

extern "C" void radix_sort(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                           unsigned *values_out, int n, void *workspace, size_t workspace_bytes,
                           cudaStream_t stream)
{
    // TODO: more than 256 pairs.
    if (n > 0)
        sort_block<<<1, kThreads, 0, stream>>>(keys, values, keys_out, values_out, n);
}
