// expect: accepted
// What a library does with it: cub::DeviceSelect::If, which keeps the order.

#include <cub/device/device_select.cuh>

struct IsPositive {
    __host__ __device__ bool operator()(float x) const
    {
        return x > 0.0f;
    }
};

extern "C" void compact_positive(const float *in, float *out, int *count, int n, void *workspace,
                                 size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int), stream);
        return;
    }
    size_t needed = 0;
    cub::DeviceSelect::If(nullptr, needed, in, out, count, n, IsPositive(), stream);
    if (needed <= workspace_bytes) {
        cub::DeviceSelect::If(workspace, needed, in, out, count, n, IsPositive(), stream);
        return;
    }
    void *own = nullptr;
    cudaMallocAsync(&own, needed, stream);
    cub::DeviceSelect::If(own, needed, in, out, count, n, IsPositive(), stream);
    cudaFreeAsync(own, stream);
}
