// expect: accepted
// A scan in three kernels that takes n from constant memory: constants have a cache of their
// own and are no global memory to the limit on bytes.

#include <cuda_runtime.h>

constexpr int T = 256;
__constant__ int g_n;
__global__ void scan_tiles(const int *in, int *out, int *sums, int n)
{
    __shared__ int a[T];
    const int t = threadIdx.x, i = blockIdx.x * T + t;
    const int v = i < n ? in[i] : 0;
    a[t] = v;
    __syncthreads();
    for (int d = 1; d < T; d *= 2) {
        const int u = t >= d ? a[t - d] : 0;
        __syncthreads();
        a[t] += u;
        __syncthreads();
    }
    if (i < n)
        out[i] = a[t] - v;
    if (t == T - 1)
        sums[blockIdx.x] = a[t];
}
__global__ void scan_sums(int *sums, int blocks)
{
    __shared__ int a[1024];
    __shared__ int carry;
    const int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    __syncthreads();
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
        const int c = carry;
        if (base + t < blocks)
            sums[base + t] = c + a[t] - v;
        __syncthreads();
        if (t == 1023)
            carry = c + a[t];
        __syncthreads();
    }
}
__global__ void add(int *out, const int *sums, int)
{
    const int n = g_n;
    const int i = blockIdx.x * T + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}
extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    int *sums = (int *)workspace;
    const int blocks = (n - 1) / T + 1;
    cudaMemcpyToSymbolAsync(g_n, &n, sizeof n, 0, cudaMemcpyHostToDevice, stream);
    scan_tiles<<<blocks, T, 0, stream>>>(in, out, sums, n);
    scan_sums<<<1, 1024, 0, stream>>>(sums, blocks);
    add<<<blocks, T, 0, stream>>>(out, sums, n);
}
