// expect: accepted
// Lanes with equal bytes find each other with __match_any_sync, and one of them counts for all.

#include <cuda_runtime.h>

__global__ void count_bytes(const unsigned char *in, int *counts, int n)
{
    __shared__ int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (long long base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
        const long long i = base + threadIdx.x;
        const int byte = i < n ? in[i] : 256; // past the end: a value of their own
        const unsigned same = __match_any_sync(0xffffffff, byte);
        if (byte < 256 && __ffs(same) - 1 == lane)
            atomicAdd(&mine[byte], __popc(same));
    }
    __syncthreads();
    if (mine[threadIdx.x])
        atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    cudaMemsetAsync(counts, 0, 256 * sizeof(int), stream);
    if (n > 0)
        count_bytes<<<64, 256, 0, stream>>>(in, counts, n);
}
