// expect: accepted
// One block counts what each thread keeps of its piece, one thread adds up, all walk again. In
// order, which nobody asked for.

#include <cuda_runtime.h>

constexpr int kThreads = 512;

__global__ void compact(const float *in, float *out, int *count, int n)
{
    __shared__ int kept[kThreads];
    const int t = threadIdx.x, length = n / kThreads + 1;
    const int begin = min((long long)t * length, (long long)n), end = min(begin + length, n);
    int mine = 0;
    for (int i = begin; i < end; i++)
        mine += in[i] > 0.0f;
    kept[t] = mine;
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int k = 0; k < kThreads; k++) {
            const int here = kept[k];
            kept[k] = sum;
            sum += here;
        }
        *count = sum;
    }
    __syncthreads();
    int place = kept[t];
    for (int i = begin; i < end; i++)
        if (in[i] > 0.0f)
            out[place++] = in[i];
}

extern "C" void compact_any_order(const float *in, float *out, int *count, int n,
                                  cudaStream_t stream)
{
    compact<<<1, kThreads, 0, stream>>>(in, out, count, n);
}
