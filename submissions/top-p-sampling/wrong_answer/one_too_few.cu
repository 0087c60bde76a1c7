// expect: wrong_answer
// Leaves the token out that reaches the share, but never the first.

#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 128; // 4 rows: few rows still reach many SMs
constexpr int kWarps = kThreads / kLanes;

__device__ __forceinline__ int lane_index()
{
    return threadIdx.x % kLanes;
}

__device__ __forceinline__ float warp_total(float value)
{
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kAllLanes, value, distance);
    return value;
}

__device__ __forceinline__ float warp_inclusive_sum(float value)
{
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const float before = __shfl_up_sync(kAllLanes, value, distance);
        if (lane_index() >= distance)
            value = before + value;
    }
    return value;
}

// All that follow are called by whole warps, with the same arguments in each lane.

__device__ __forceinline__ float row_total(const float *weights, int vocabulary)
{
    float sum = 0;
    for (int j = lane_index(); j < vocabulary; j += kLanes)
        sum += weights[j];
    return warp_total(sum);
}

// How many tokens it takes to reach `share`, and their sum.
__device__ __forceinline__ int row_kept(const float *weights, int vocabulary, float share,
                                        float &sum_kept)
{
    float carry = 0;
    for (int first = 0;; first += kLanes) {
        const int j = first + lane_index();
        const float sum = carry + warp_inclusive_sum(j < vocabulary ? weights[j] : 0.0f);
        const unsigned reached = __ballot_sync(kAllLanes, sum >= share);
        if (reached) { // at the latest by the total
            const int lane = __ffs(int(reached)) - 1;
            sum_kept = __shfl_sync(kAllLanes, sum, lane);
            return max(first + lane, 1);
        }
        carry = __shfl_sync(kAllLanes, sum, kLanes - 1);
    }
}

__device__ __forceinline__ int row_token(const float *weights, int kept, float target)
{
    float carry = 0;
    for (int first = 0; first < kept; first += kLanes) {
        const int j = first + lane_index();
        const float sum = carry + warp_inclusive_sum(j < kept ? weights[j] : 0.0f);
        const unsigned passed = __ballot_sync(kAllLanes, sum > target);
        if (passed)
            return first + __ffs(int(passed)) - 1;
        carry = __shfl_sync(kAllLanes, sum, kLanes - 1);
    }
    return kept - 1; // u times the sum is all of it
}

__global__ void __launch_bounds__(kThreads)
    sample_rows(const float *weights, const float *p, const float *u, int *kept, float *mass,
                int *token, int rows, int vocabulary)
{
    const int row = blockIdx.x * kWarps + threadIdx.x / kLanes;
    if (row >= rows)
        return;
    const float *own = weights + size_t(row) * vocabulary;
    const float share = p[row] * row_total(own, vocabulary);
    float sum_kept;
    const int count = row_kept(own, vocabulary, share, sum_kept);
    const int drawn = row_token(own, count, u[row] * sum_kept);
    if (lane_index() == 0) {
        kept[row] = count;
        mass[row] = sum_kept;
        token[row] = drawn;
    }
}

extern "C" void top_p_sampling(const float *weights, const float *p, const float *u, int *kept,
                               float *mass, int *token, int rows, int vocabulary,
                               cudaStream_t stream)
{
    if (rows == 0)
        return;
    sample_rows<<<(rows - 1) / kWarps + 1, kThreads, 0, stream>>>(weights, p, u, kept, mass, token,
                                                                  rows, vocabulary);
    cudaGetLastError();
}
