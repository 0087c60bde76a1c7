// grid.sync() between the phases of one cooperative launch: every block adds up its share, and then
// all blocks read what all others wrote.
#include "common.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kThreads = 128;

__device__ unsigned block_sum(unsigned value)
{
    __shared__ unsigned sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, value);
    __syncthreads();
    const unsigned result = sum;
    __syncthreads();
    return result;
}

// shares[i] = (sum of all values) - values[i], with one phase per arrow:
// values -> sum of each block -> sum of everything.
__global__ void sum_of_others(const unsigned *values, unsigned *shares, unsigned *block_sums, int n)
{
    const cg::grid_group grid = cg::this_grid();
    unsigned mine = 0;
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
        mine += values[i];
    const unsigned of_block = block_sum(mine);
    if (threadIdx.x == 0)
        block_sums[blockIdx.x] = of_block;
    grid.sync();

    if (blockIdx.x == 0) {
        unsigned part = 0;
        for (int b = threadIdx.x; b < gridDim.x; b += kThreads)
            part += block_sums[b];
        const unsigned of_grid = block_sum(part);
        if (threadIdx.x == 0)
            block_sums[gridDim.x] = of_grid;
    }
    grid.sync();

    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
        shares[i] = block_sums[gridDim.x] - values[i];
}

int main()
{
    int per_sm = 0, supported = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, sum_of_others, kThreads, 0));
    if (!supported || per_sm == 0) {
        std::printf("cooperative launch: FAIL (not supported)\n");
        return 1;
    }
    const int blocks = std::min(sm_count() * per_sm, 64);

    int n = 100003;
    std::vector<unsigned> values(n), got(n);
    std::mt19937 generator(7);
    unsigned total = 0;
    for (unsigned &v : values) {
        v = generator();
        total += v;
    }
    unsigned *d_values, *d_shares, *d_sums;
    CUDA_CHECK(cudaMalloc(&d_values, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&d_shares, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&d_sums, (blocks + 1) * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(d_values, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));

    void *arguments[] = {&d_values, &d_shares, &d_sums, &n};
    CUDA_CHECK(cudaLaunchCooperativeKernel(sum_of_others, dim3(blocks), dim3(kThreads), arguments,
                                           0, nullptr));
    CUDA_CHECK_LAST();
    CUDA_CHECK(cudaMemcpy(got.data(), d_shares, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; ++i)
        bad += got[i] != total - values[i];
    std::printf("grid.sync with %d blocks: %s (%d mismatches)\n", blocks, bad ? "FAIL" : "PASS",
                bad);

    // More blocks than fit at once must be refused, not hang.
    cudaError_t error = cudaLaunchCooperativeKernel(
        sum_of_others, dim3(sm_count() * per_sm + 1), dim3(kThreads), arguments, 0, nullptr);
    const bool refused = error == cudaErrorCooperativeLaunchTooLarge;
    cudaGetLastError();
    std::printf("one block too many: %s\n", refused ? "PASS" : "FAIL");

    CUDA_CHECK(cudaFree(d_values));
    CUDA_CHECK(cudaFree(d_shares));
    CUDA_CHECK(cudaFree(d_sums));
    return bad || !refused ? 1 : 0;
}
