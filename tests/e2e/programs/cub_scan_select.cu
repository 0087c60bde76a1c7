// CUB's device-wide scan and select, held against plain loops on the host.
#include "common.cuh"

#include <cstring>

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

// CUB's protocol: a first call says how much temporary storage the second one needs.
template <typename Call> void with_storage(Call call)
{
    void *storage = nullptr;
    size_t bytes = 0;
    CUDA_CHECK(call(storage, bytes));
    CUDA_CHECK(cudaMalloc(&storage, bytes));
    CUDA_CHECK(call(storage, bytes));
    CUDA_CHECK_LAST();
    CUDA_CHECK(cudaFree(storage));
}

struct IsPositive {
    __host__ __device__ bool operator()(float v) const
    {
        return v > 0.0f;
    }
};

static bool report(const char *what, int n, bool ok)
{
    std::printf("%s of %d: %s\n", what, n, ok ? "PASS" : "FAIL");
    return ok;
}

static bool test_scan(int n)
{
    std::vector<int> in(n), expected(n), got(n);
    std::mt19937 generator(n);
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) {
        in[i] = static_cast<int>(generator());
        expected[i] = static_cast<int>(sum);
        sum += static_cast<unsigned>(in[i]);
    }
    int *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    with_storage([&](void *storage, size_t &bytes) {
        return cub::DeviceScan::ExclusiveSum(storage, bytes, d_in, d_out, n);
    });
    CUDA_CHECK(cudaMemcpy(got.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return report("cub::DeviceScan::ExclusiveSum", n, got == expected);
}

static bool test_select(int n)
{
    std::vector<float> in(n), expected;
    fill_random(in, n);
    for (float v : in)
        if (IsPositive()(v))
            expected.push_back(v);
    float *d_in, *d_out;
    int *d_count;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_count, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    with_storage([&](void *storage, size_t &bytes) {
        return cub::DeviceSelect::If(storage, bytes, d_in, d_out, d_count, n, IsPositive());
    });
    int count = -1;
    CUDA_CHECK(cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost));
    bool ok = count == static_cast<int>(expected.size());
    if (ok && count > 0) {
        std::vector<float> got(count);
        CUDA_CHECK(cudaMemcpy(got.data(), d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
        ok = std::memcmp(got.data(), expected.data(), count * sizeof(float)) == 0;
    }
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_count));
    return report("cub::DeviceSelect::If", n, ok);
}

int main()
{
    bool ok = true;
    for (int n : {1, 33, 1000, 4096, 100003, 1000000}) {
        ok = test_scan(n) && ok;
        ok = test_select(n) && ok;
    }
    return ok ? 0 : 1;
}
