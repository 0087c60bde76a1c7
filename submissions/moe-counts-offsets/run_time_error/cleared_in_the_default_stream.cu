// expect: run_time_error
// expect-finding: leak
// cudaMemset works in the default stream, and nothing makes the caller's stream wait for it: the
// counts may be cleared after they have been counted. cudaMemsetAsync takes the stream.
#include <cstddef>

constexpr int kThreads = 256;

__global__ void count(const int *ids, int *counts, long slots, int num_experts)
{
    const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
    const int id = i < slots ? ids[i] : -1;
    if (id >= 0 && id < num_experts)
        atomicAdd(counts + id, 1);
}

__global__ void scan_counts(const int *counts, int *offsets, int num_experts)
{
    int sum = 0;
    for (int e = 0; e < num_experts; ++e) {
        offsets[e] = sum;
        sum += counts[e];
    }
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long slots = static_cast<long>(num_tokens) * top_k;
    cudaMemset(counts, 0, num_experts * sizeof(int));
    if (slots > 0)
        count<<<(slots - 1) / kThreads + 1, kThreads, 0, stream>>>(topk_ids, counts, slots,
                                                                   num_experts);
    scan_counts<<<1, 1, 0, stream>>>(counts, offsets, num_experts);
}
