// expect: run_time_error
// expect-finding: data_race
// One kernel scans both operators with the same shared array and has no barrier before the second
// scan writes it: a slow warp still reads the maxima.

#include <climits>
#include <cuda_runtime.h>

constexpr int kLanes = 32;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;

__global__ void scan_in_one_block(const int *values, int *max_before, const unsigned *scale,
                                  const unsigned *shift, unsigned *composed_scale,
                                  unsigned *composed_shift, int n)
{
    __shared__ unsigned warp_scales[kWarps], warp_shifts[kWarps];
    const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    int carry_max = INT_MIN;
    unsigned carry_scale = 1, carry_shift = 0;
    for (int first = 0; first < n; first += kThreads) {
        const int i = first + threadIdx.x;

        // The maximum, with warp_scales for the maxima of the warps.
        int largest = i < n ? values[i] : INT_MIN;
        for (int distance = 1; distance < kLanes; distance *= 2) {
            const int before = __shfl_up_sync(0xffffffffu, largest, distance);
            if (lane >= distance)
                largest = max(before, largest);
        }
        if (lane == kLanes - 1)
            warp_scales[warp] = unsigned(largest);
        __syncthreads();
        int before_max = carry_max;
        for (int w = 0; w < kWarps; w++) {
            if (w < warp)
                before_max = max(before_max, int(warp_scales[w]));
            carry_max = max(carry_max, int(warp_scales[w]));
        }
        const int lane_before = __shfl_up_sync(0xffffffffu, largest, 1);
        if (i < n)
            max_before[i] = lane == 0 ? before_max : max(before_max, lane_before);

        // The maps. There should be a barrier before warp_scales is written again.
        unsigned a = i < n ? scale[i] : 1, b = i < n ? shift[i] : 0;
        for (int distance = 1; distance < kLanes; distance *= 2) {
            const unsigned before_a = __shfl_up_sync(0xffffffffu, a, distance);
            const unsigned before_b = __shfl_up_sync(0xffffffffu, b, distance);
            if (lane >= distance) {
                b = a * before_b + b;
                a = a * before_a;
            }
        }
        if (lane == kLanes - 1) {
            warp_scales[warp] = a;
            warp_shifts[warp] = b;
        }
        __syncthreads();
        unsigned before_a = carry_scale, before_b = carry_shift;
        for (int w = 0; w < kWarps; w++) {
            if (w == warp) {
                before_a = carry_scale;
                before_b = carry_shift;
            }
            carry_shift = warp_scales[w] * carry_shift + warp_shifts[w];
            carry_scale = warp_scales[w] * carry_scale;
        }
        const unsigned lane_a = __shfl_up_sync(0xffffffffu, a, 1);
        const unsigned lane_b = __shfl_up_sync(0xffffffffu, b, 1);
        if (i < n) {
            composed_scale[i] = lane == 0 ? before_a : lane_a * before_a;
            composed_shift[i] = lane == 0 ? before_b : lane_a * before_b + lane_b;
        }
        __syncthreads();
    }
}

extern "C" void generic_scan(const int *values, int *max_before, const unsigned *scale,
                             const unsigned *shift, unsigned *composed_scale,
                             unsigned *composed_shift, int n, void *workspace,
                             size_t workspace_bytes, cudaStream_t stream)
{
    if (n > 0)
        scan_in_one_block<<<1, kThreads, 0, stream>>>(values, max_before, scale, shift,
                                                      composed_scale, composed_shift, n);
}
