// MoE counts and offsets, rung 3: one kernel launch, but two memsets before it.
//
// Contract: num_tokens >= 0, top_k >= 0, their product fits in int64; 1 <= num_experts <= 4096; all
// arrays are aligned to 4 bytes and do not overlap; ids outside [0, num_experts) are not counted;
// counts[e] = how many ids are e, offsets[e] = counts[0] + ... + counts[e - 1]; both are written
// also when there is no token. The same bits on every run. All work goes on `stream`; no workspace.
// State: none outlives the call. Up to kOneBlockIds ids a single block does everything. Beyond, the
// blocks meet in the output itself: counts is cleared and summed up in place, and offsets[0], which
// ends as 0 in any case, counts the blocks that are done. So calls on any number of streams may
// overlap, calls may be captured in graphs, and an aborted call leaves nothing behind. Blocks never
// wait for each other: any order and any number of resident blocks will do.
// Method: every block counts its share of the ids in a table in shared memory. A bin has several
//         columns, and a lane always uses the same one: with 32 columns no two lanes meet in a
//         bank, however skewed the ids are. The sums of the bins are added to counts; the block
//         that is done last scans counts.
// Moves: 4 bytes in per id, 8 bytes out per expert.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 1024;             // one table serves as many threads as possible
constexpr int kWarps = kThreads / kLanes;
constexpr int kTableWords = 8192;          // 32 KB: the largest power of two within 48 KB
constexpr int kExpertsMax = 4096;
constexpr int kBins = kExpertsMax / kThreads; // per thread, in the scan
constexpr int kVector = 4;                 // ids of one 16-byte load
constexpr int kLoads = 4;                  // in flight per thread: 64 KB per SM cover its latency
constexpr long long kOneBlockIds = 16384;  // up to here two memsets cost more than more blocks save
constexpr long long kIdsPerThread = 4;     // as soon as there are enough for one load each

// ---- lane and warp ----

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ int warp_index()
{
    return threadIdx.x / kLanes;
}

__device__ __forceinline__ int warp_inclusive_sum(int value)
{
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const int before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

// ---- the table of a block: columns are a power of two, so that the sums of a bin stay cheap ----

struct Table {
    int *words;
    int num_experts;
    int columns;

    __device__ void clear() const
    {
        for (int i = threadIdx.x; i < num_experts * columns; i += kThreads)
            words[i] = 0;
    }
    // Partners: the same atomicAdd of the lanes of the block that share the column.
    __device__ void count(int expert) const
    {
        if (unsigned(expert) < unsigned(num_experts)) // one comparison refuses negative ids too
            atomicAdd(&words[expert * columns + (lane_index() & (columns - 1))], 1);
    }
    __device__ void count(int4 experts) const
    {
        count(experts.x);
        count(experts.y);
        count(experts.z);
        count(experts.w);
    }
    // Every thread starts at another column: neighbours read different banks.
    __device__ int sum(int expert) const
    {
        int total = 0;
        for (int k = 0; k < columns; k++)
            total += words[expert * columns + ((threadIdx.x + k) & (columns - 1))];
        return total;
    }
};

// ---- block ----

__device__ __forceinline__ void block_count_ids(Table table, const int *topk_ids,
                                                long long id_count)
{
    const long long thread = (long long)blockIdx.x * kThreads + threadIdx.x;
    const long long threads = (long long)gridDim.x * kThreads;
    // Whole vectors where the array allows it, the rest one by one.
    const bool aligned = reinterpret_cast<size_t>(topk_ids) % (kVector * sizeof(int)) == 0;
    const long long vectors = aligned ? id_count / kVector : 0;
    const int4 *vector_ids = reinterpret_cast<const int4 *>(topk_ids);
    long long i = thread;
    for (; i + (kLoads - 1) * threads < vectors; i += kLoads * threads) {
        int4 ids[kLoads];
#pragma unroll
        for (int k = 0; k < kLoads; k++)
            ids[k] = vector_ids[i + k * threads];
#pragma unroll
        for (int k = 0; k < kLoads; k++)
            table.count(ids[k]);
    }
    for (; i < vectors; i += threads)
        table.count(vector_ids[i]);
    for (i = vectors * kVector + thread; i < id_count; i += threads)
        table.count(topk_ids[i]);
}

// offsets = exclusive prefix sum of counts, thread t holding bins t * kBins ... of it. Every thread
// calls it, once.
__device__ __forceinline__ void block_scan_counts(const int (&counts)[kBins], int *offsets,
                                                  int num_experts)
{
    __shared__ int warp_sums[kWarps];
    int own = 0;
#pragma unroll
    for (int bin = 0; bin < kBins; bin++)
        own += counts[bin];
    const int inclusive = warp_inclusive_sum(own);
    if (lane_index() == kLanes - 1)
        warp_sums[warp_index()] = inclusive;
    __syncthreads();
    if (warp_index() == 0)
        warp_sums[lane_index()] = warp_inclusive_sum(warp_sums[lane_index()]);
    __syncthreads();
    int sum = (warp_index() > 0 ? warp_sums[warp_index() - 1] : 0) + inclusive - own;
#pragma unroll
    for (int bin = 0; bin < kBins; bin++) {
        const int expert = threadIdx.x * kBins + bin;
        if (expert < num_experts)
            offsets[expert] = sum;
        sum += counts[bin];
    }
}

// Adds the table to counts, says so, and tells whether this block is the last one. `done` counts
// the blocks that said so.
__device__ __forceinline__ bool block_flush(Table table, int *counts, int *done)
{
    __shared__ bool is_last;
    // Partners: the same atomicAdd in the other blocks, and the loads of the last block.
    for (int expert = threadIdx.x; expert < table.num_experts; expert += kThreads) {
        const int count = table.sum(expert);
        if (count > 0)
            atomicAdd(&counts[expert], count);
    }
    // Release: every thread's sums are out before the block counts as done. Partner: the same
    // atomicAdd in the other blocks; memset to 0 before the launch.
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicAdd(done, 1) == int(gridDim.x) - 1;
    __syncthreads();
    __threadfence(); // acquire, for the last block
    return is_last;
}

// ---- kernels ----

__global__ void __launch_bounds__(kThreads)
    count_in_one_block(const int *topk_ids, int *counts, int *offsets, long long id_count,
                       int num_experts, int columns)
{
    extern __shared__ int table_words[];
    const Table table{table_words, num_experts, columns};
    table.clear();
    __syncthreads();
    block_count_ids(table, topk_ids, id_count);
    __syncthreads();
    int sums[kBins];
#pragma unroll
    for (int bin = 0; bin < kBins; bin++) {
        const int expert = threadIdx.x * kBins + bin;
        sums[bin] = expert < num_experts ? table.sum(expert) : 0;
        if (expert < num_experts)
            counts[expert] = sums[bin];
    }
    block_scan_counts(sums, offsets, num_experts);
}

// counts and offsets[0] are 0 at the start.
__global__ void __launch_bounds__(kThreads)
    count_in_many_blocks(const int *topk_ids, int *counts, int *offsets, long long id_count,
                         int num_experts, int columns)
{
    extern __shared__ int table_words[];
    const Table table{table_words, num_experts, columns};
    table.clear();
    __syncthreads();
    block_count_ids(table, topk_ids, id_count);
    __syncthreads();
    if (!block_flush(table, counts, &offsets[0]))
        return;
    int sums[kBins];
#pragma unroll
    for (int bin = 0; bin < kBins; bin++) {
        const int expert = threadIdx.x * kBins + bin;
        // From L2, where atomics act.
        sums[bin] = expert < num_experts ? __ldcg(&counts[expert]) : 0;
    }
    block_scan_counts(sums, offsets, num_experts);
}

extern "C" void moe_counts_offsets(const int *topk_ids, int *counts, int *offsets, int num_tokens,
                                   int top_k, int num_experts, cudaStream_t stream)
{
    const long long id_count = (long long)num_tokens * top_k;
    int columns = kLanes;
    while (columns > 1 && num_experts * columns > kTableWords)
        columns /= 2;
    const size_t table_bytes = sizeof(int) * size_t(num_experts) * size_t(columns);

    if (id_count <= kOneBlockIds) {
        count_in_one_block<<<1, kThreads, table_bytes, stream>>>(topk_ids, counts, offsets,
                                                                 id_count, num_experts, columns);
        cudaGetLastError();
        return;
    }
    int device = 0;
    int processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const long long wanted = (id_count - 1) / (kThreads * kIdsPerThread) + 1;
    const int blocks = int(wanted < processors ? wanted : processors);
    cudaMemsetAsync(counts, 0, sizeof(int) * size_t(num_experts), stream);
    cudaMemsetAsync(offsets, 0, sizeof(int), stream);
    count_in_many_blocks<<<blocks, kThreads, table_bytes, stream>>>(topk_ids, counts, offsets,
                                                                    id_count, num_experts, columns);
    cudaGetLastError();
}
