// expect: accepted
// One block. Each thread walks over its piece twice; one thread adds up the counts.

#include <cuda_runtime.h>

constexpr int kThreads = 512;

__global__ void split_in_pieces(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                                unsigned *values_out, int n, int bit)
{
    __shared__ int zeros[kThreads];
    __shared__ int all_zeros;
    const int t = threadIdx.x, length = n / kThreads + 1;
    const int begin = min((long long)t * length, (long long)n), end = min(begin + length, n);
    int mine = 0;
    for (int i = begin; i < end; i++)
        mine += (keys[i] >> bit & 1) == 0;
    zeros[t] = mine;
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int k = 0; k < kThreads; k++) {
            const int here = zeros[k];
            zeros[k] = sum;
            sum += here;
        }
        all_zeros = sum;
    }
    __syncthreads();
    int zero = zeros[t], one = all_zeros + begin - zero;
    for (int i = begin; i < end; i++) {
        const int place = (keys[i] >> bit & 1) == 0 ? zero++ : one++;
        keys_out[place] = keys[i];
        values_out[place] = values[i];
    }
}

extern "C" void radix_split(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                            unsigned *values_out, int n, int bit, void *workspace,
                            size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        split_in_pieces<<<1, kThreads, 0, stream>>>(keys, values, keys_out, values_out, n, bit);
}
