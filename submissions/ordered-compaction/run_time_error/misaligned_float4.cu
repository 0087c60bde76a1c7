// expect: run_time_error
// expect-finding: misaligned
// Reads four floats at once from wherever the part of the thread begins, which is a multiple of 16
// bytes only by luck.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__device__ int count_part(const float *in, int from, int to)
{
    int kept = 0;
    int i = from;
    for (; i + 4 <= to; i += 4) {
        const float4 four = *(const float4 *)(in + i); // <-- misaligned
        kept += (four.x > 0.0f) + (four.y > 0.0f) + (four.z > 0.0f) + (four.w > 0.0f);
    }
    for (; i < to; i++)
        kept += in[i] > 0.0f;
    return kept;
}

// One block, every thread its own part.
__global__ void compact(const float *in, float *out, int *count, int n)
{
    __shared__ int kept[kThreads];
    const int part = n / kThreads + (n % kThreads != 0);
    const int from = (int)min((long long)threadIdx.x * part, (long long)n);
    const int to = (int)min((long long)from + part, (long long)n);
    kept[threadIdx.x] = count_part(in, from, to);
    __syncthreads();
    int place = 0;
    for (int t = 0; t < threadIdx.x; t++)
        place += kept[t];
    for (int i = from; i < to; i++)
        if (in[i] > 0.0f)
            out[place++] = in[i];
    if (threadIdx.x == kThreads - 1)
        *count = place;
}

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    compact<<<1, kThreads, 0, stream>>>(in, out, count, n);
}
