// expect: accepted
// Every warp counts in a histogram of its own as long as eight of them fit into 32 KB of shared
// memory; thread t scans a run of experts serially, then the runs are scanned.

#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__global__ void count_ids(const int *topk_ids, int *counts, long long id_count, int num_experts,
                          int copies)
{
    extern __shared__ unsigned copies_of_histogram[];
    for (int i = threadIdx.x; i < copies * num_experts; i += kThreads)
        copies_of_histogram[i] = 0;
    __syncthreads();
    unsigned *own = copies_of_histogram + (threadIdx.x / 32) % copies * num_experts;
    const long long stride = (long long)gridDim.x * kThreads;
    for (long long i = (long long)blockIdx.x * kThreads + threadIdx.x; i < id_count; i += stride) {
        const unsigned expert = (unsigned)topk_ids[i];
        if (expert < (unsigned)num_experts)
            atomicInc(&own[expert], 0xffffffffu);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < num_experts; e += kThreads) {
        int sum = 0;
        for (int copy = 0; copy < copies; copy++)
            sum += (int)copies_of_histogram[copy * num_experts + e];
        if (sum > 0)
            atomicAdd(&counts[e], sum);
    }
}

__global__ void scan_counts(const int *counts, int *offsets, int num_experts)
{
    __shared__ int runs[kThreads];
    const int run = (num_experts + kThreads - 1) / kThreads;
    const int from = min((int)threadIdx.x * run, num_experts);
    const int to = min(from + run, num_experts);
    int sum = 0;
    for (int e = from; e < to; e++)
        sum += counts[e];
    runs[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        int before = 0;
        for (int t = 0; t < kThreads; t++) {
            const int own = runs[t];
            runs[t] = before;
            before += own;
        }
    }
    __syncthreads();
    int place = runs[threadIdx.x];
    for (int e = from; e < to; e++) {
        offsets[e] = place;
        place += counts[e];
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    int copies = kWarps;
    while (copies > 1 && copies * num_experts * sizeof(int) > 32768)
        copies /= 2;
    cudaMemsetAsync(counts, 0, num_experts * sizeof(int), stream);
    const long long wanted = (id_count + 4095) / 4096;
    if (wanted > 0)
        count_ids<<<(unsigned)(wanted < 256 ? wanted : 256), kThreads,
                    copies * num_experts * sizeof(int), stream>>>(topk_ids, counts, id_count,
                                                                  num_experts, copies);
    scan_counts<<<1, kThreads, 0, stream>>>(counts, offsets, num_experts);
}
