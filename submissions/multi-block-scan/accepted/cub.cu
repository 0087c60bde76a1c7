// expect: accepted
// The library's scan, to compare oneself with. Its temporary storage is allocated on the stream.
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_scan.cuh>

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "cub.cu: %s\n", cudaGetErrorString(error));
        std::abort();
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    void *storage = nullptr;
    size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n, stream));
    check(cudaMallocAsync(&storage, bytes, stream));
    check(cub::DeviceScan::ExclusiveSum(storage, bytes, in, out, n, stream));
    check(cudaFreeAsync(storage, stream));
}
