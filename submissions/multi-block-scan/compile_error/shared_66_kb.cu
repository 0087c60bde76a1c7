// expect: compile_error
// 66 KB of static shared memory: PTX lets it pass, ptxas does not.
#include <cstddef>

constexpr int kTile = 16896; // 66 KB, one int each

__global__ void scan(const int *in, int *out, int n)
{
    __shared__ int tile[kTile];
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
        scan<<<1, 256, 0, stream>>>(in, out, n);
}
