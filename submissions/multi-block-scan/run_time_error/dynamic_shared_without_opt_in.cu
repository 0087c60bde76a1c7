// expect: run_time_error
// expect-finding: cuda_error
// Asks for 64 KB of dynamic shared memory without cudaFuncSetAttribute: over 48 KB the launch
// fails, and the output stays as it was.
#include <cstddef>

constexpr int kTile = 16384; // 64 KB, one int each

__global__ void scan(const int *in, int *out, int n)
{
    extern __shared__ int tile[];
    int carry = 0;
    for (int start = 0; start < n; start += kTile) {
        for (int k = threadIdx.x; k < kTile; k += blockDim.x)
            tile[k] = start + k < n ? in[start + k] : 0;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int k = 0; k < kTile; ++k) {
                int value = tile[k];
                tile[k] = carry;
                carry += value;
            }
        }
        __syncthreads();
        for (int k = threadIdx.x; k < kTile && start + k < n; k += blockDim.x)
            out[start + k] = tile[k];
        __syncthreads();
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        scan<<<1, 256, kTile * sizeof(int), stream>>>(in, out, n);
}
