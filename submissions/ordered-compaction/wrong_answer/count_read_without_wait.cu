// expect: wrong_answer
// gpu: any - the count is late or in time, as it happens
// Copies the count to pinned memory with cudaMemcpyAsync() and reads it at once. Without a wait it
// is the count of an earlier call, which is right where that had the same data.

#include <cuda_runtime.h>

constexpr int T = 256;
__device__ __forceinline__ bool kept(float x)
{
    return x > 0.0f;
}
__global__ void count_tiles(const float *in, int *sums, int n)
{
    const int i = blockIdx.x * T + threadIdx.x;
    const int c = __syncthreads_count(i < n && kept(in[i]));
    if (threadIdx.x == 0)
        sums[blockIdx.x] = c;
}
__global__ void scan_sums(int *sums, int blocks, int *count)
{
    __shared__ int a[1024];
    const int t = threadIdx.x;
    int carry = 0;
    for (int base = 0; base < blocks; base += 1024) {
        const int v = base + t < blocks ? sums[base + t] : 0;
        a[t] = v;
        __syncthreads();
        for (int d = 1; d < 1024; d *= 2) {
            const int u = t >= d ? a[t - d] : 0;
            __syncthreads();
            a[t] += u;
            __syncthreads();
        }
        if (base + t < blocks)
            sums[base + t] = carry + a[t] - v;
        carry += a[1023];
        __syncthreads();
    }
    if (t == 0)
        *count = carry;
}
__global__ void scatter(const float *in, float *out, const int *sums, int n)
{
    __shared__ int warps[T / 32];
    const int t = threadIdx.x, lane = t & 31, w = t >> 5, i = blockIdx.x * T + t;
    const float x = i < n ? in[i] : 0.0f;
    const bool k = i < n && kept(x);
    const unsigned votes = __ballot_sync(~0u, k);
    if (lane == 0)
        warps[w] = __popc(votes);
    __syncthreads();
    int at = sums[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
    for (int j = 0; j < w; ++j)
        at += warps[j];
    if (k)
        out[at] = x;
}
extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    // compacts into memory of its own, then copies as many as the host has been told of - without
    // waiting
    int *sums = (int *)workspace;
    const int blocks = (n + T - 1) / T;
    float *mine;
    static int *h;
    if (!h)
        cudaMallocHost(&h, 4);
    cudaMallocAsync(&mine, 4 * (n + 1ull), stream);
    if (blocks)
        count_tiles<<<blocks, T, 0, stream>>>(in, sums, n);
    scan_sums<<<1, 1024, 0, stream>>>(sums, blocks, count);
    if (blocks)
        scatter<<<blocks, T, 0, stream>>>(in, mine, sums, n);
    cudaMemcpyAsync(h, count, 4, cudaMemcpyDeviceToHost, stream);
    if (*h > 0)
        cudaMemcpyAsync(out, mine, 4ull * *h, cudaMemcpyDeviceToDevice, stream);
    cudaFreeAsync(mine, stream);
}
