// expect: accepted
// One block. Each thread counts the heads of its piece, one thread adds up, everybody walks again,
// and from a piece on to the end of its last run.

#include <cuda_runtime.h>

constexpr int kThreads = 512;

__device__ bool is_head(const int *in, int i)
{
    return i == 0 || in[i] != in[i - 1];
}

__global__ void encode_in_pieces(const int *in, int *values, int *lengths, int *count, int n)
{
    __shared__ int heads[kThreads];
    const int t = threadIdx.x, length = n / kThreads + 1;
    const int begin = min((long long)t * length, (long long)n), end = min(begin + length, n);
    int mine = 0;
    for (int i = begin; i < end; i++)
        mine += is_head(in, i);
    heads[t] = mine;
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int k = 0; k < kThreads; k++) {
            const int here = heads[k];
            heads[k] = sum;
            sum += here;
        }
        *count = sum;
    }
    __syncthreads();
    int run = heads[t];
    for (int i = begin; i < end; i++) {
        if (!is_head(in, i))
            continue;
        int next = i + 1;
        while (next < n && !is_head(in, next))
            next++;
        values[run] = in[i];
        lengths[run] = next - i;
        run++;
    }
}

extern "C" void run_length_encode(const int *in, int *values, int *lengths, int *count, int n,
                                  void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    encode_in_pieces<<<1, kThreads, 0, stream>>>(in, values, lengths, count, n);
}
