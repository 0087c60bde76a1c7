// expect: accepted
// What a library does with it: cub::DeviceHistogram, which leaves out what lies outside of its
// levels, and cub::DeviceScan.

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_scan.cuh>

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    if (id_count == 0) {
        cudaMemsetAsync(counts, 0, num_experts * sizeof(int), stream);
        cudaMemsetAsync(offsets, 0, num_experts * sizeof(int), stream);
        return;
    }
    size_t for_histogram = 0, for_scan = 0;
    cub::DeviceHistogram::HistogramEven(nullptr, for_histogram, topk_ids, counts, num_experts + 1,
                                        0, num_experts, id_count, stream);
    cub::DeviceScan::ExclusiveSum(nullptr, for_scan, counts, offsets, num_experts, stream);
    void *scratch = nullptr;
    cudaMallocAsync(&scratch, for_histogram > for_scan ? for_histogram : for_scan, stream);
    cub::DeviceHistogram::HistogramEven(scratch, for_histogram, topk_ids, counts, num_experts + 1,
                                        0, num_experts, id_count, stream);
    cub::DeviceScan::ExclusiveSum(scratch, for_scan, counts, offsets, num_experts, stream);
    cudaFreeAsync(scratch, stream);
}
