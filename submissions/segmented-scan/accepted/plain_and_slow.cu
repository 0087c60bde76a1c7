// expect: accepted
// One thread per segment: whoever stands at a head walks to the next one.

#include <cuda_runtime.h>

__global__ void walk_segments(const int *in, const unsigned char *heads, int *out, int n)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        if (i > 0 && !heads[i])
            continue;
        unsigned sum = 0;
        long long k = i;
        do {
            sum += unsigned(in[k]);
            out[k] = int(sum);
            k++;
        } while (k < n && !heads[k]);
    }
}

extern "C" void segmented_scan(const int *in, const unsigned char *heads, int *out, int n,
                               void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        walk_segments<<<(n - 1) / 128 + 1, 128, 0, stream>>>(in, heads, out, n);
}
