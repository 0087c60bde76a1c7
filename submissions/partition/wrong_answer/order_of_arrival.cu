// expect: wrong_answer
// expect-diagnosis: order
// Atomic counters give every item a place on its side, in whatever order.

#include <cuda_runtime.h>

__global__ void count_below(const int *in, int *count, int n, int pivot)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] < pivot)
        atomicAdd(count, 1);
}

__global__ void scatter(const int *in, int *out, const int *count, int *places, int n, int pivot)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const bool below = in[i] < pivot;
    const int place = atomicAdd(&places[below ? 0 : 1], 1);
    out[below ? place : *count + place] = in[i];
}

extern "C" void partition_below(const int *in, int *out, int *count, int n, int pivot,
                                void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    int *places = static_cast<int *>(workspace);
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    cudaMemsetAsync(places, 0, 2 * sizeof(int), stream);
    if (n == 0)
        return;
    count_below<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, count, n, pivot);
    scatter<<<(n - 1) / 256 + 1, 256, 0, stream>>>(in, out, count, places, n, pivot);
}
