// expect: accepted
// One block. Each thread walks over its piece twice; one thread adds up the counts.

#include <cuda_runtime.h>

constexpr int kThreads = 512;

__global__ void partition_in_pieces(const int *in, int *out, int *count, int n, int pivot)
{
    __shared__ int below[kThreads];
    __shared__ int all_below;
    const int t = threadIdx.x, length = n / kThreads + 1;
    const int begin = min((long long)t * length, (long long)n), end = min(begin + length, n);
    int mine = 0;
    for (int i = begin; i < end; i++)
        mine += in[i] < pivot;
    below[t] = mine;
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int k = 0; k < kThreads; k++) {
            const int here = below[k];
            below[k] = sum;
            sum += here;
        }
        *count = all_below = sum;
    }
    __syncthreads();
    int first = below[t], second = all_below + begin - first;
    for (int i = begin; i < end; i++)
        out[in[i] < pivot ? first++ : second++] = in[i];
}

extern "C" void partition_below(const int *in, int *out, int *count, int n, int pivot,
                                void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    partition_in_pieces<<<1, kThreads, 0, stream>>>(in, out, count, n, pivot);
}
