// An opponent for `judge bench multi-block-scan --with tests/gpu/rivals/scan_cub.cu`: CUB's own exclusive sum.
// Its temporary storage is allocated once per process and size, outside of what later calls take.
#include <cub/device/device_scan.cuh>

static void *storage = nullptr;
static size_t storage_bytes = 0;

extern "C" void exclusive_scan(const int *in, int *out, int n, void *, size_t, cudaStream_t stream)
{
    size_t wanted = 0;
    cub::DeviceScan::ExclusiveSum(nullptr, wanted, in, out, n, stream);
    if (wanted > storage_bytes) {
        cudaFree(storage);
        cudaMalloc(&storage, wanted);
        storage_bytes = wanted;
    }
    cub::DeviceScan::ExclusiveSum(storage, wanted, in, out, n, stream);
}
