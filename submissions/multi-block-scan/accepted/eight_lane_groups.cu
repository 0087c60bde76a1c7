// expect: accepted
// Legal, although it looks odd: every group of 8 lanes is a little warp of its own that works
// through a segment of 256 elements with shuffles masked to the group. At the end of the array the
// groups of one hardware warp leave their loops at different times; afterwards all 32 lanes shuffle
// together again.
#include <cstddef>

constexpr int kGroup = 8;
constexpr int kSegment = 256;                     // elements per group
constexpr int kWarpItems = 32 / kGroup * kSegment; // 1024 elements per warp
constexpr int kThreads = 128;

struct Segment {
    long long begin, end; // empty where begin >= end
};

__device__ Segment my_segment(int n)
{
    const long long group =
        (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) / kGroup;
    const long long begin = group * kSegment;
    return {begin, begin + kSegment < n ? begin + kSegment : n};
}

__device__ int warp_index()
{
    return blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
}

__device__ unsigned group_mask()
{
    return 0xffu << (threadIdx.x % 32 / kGroup * kGroup);
}

__device__ int group_inclusive_scan(int v)
{
    for (int offset = 1; offset < kGroup; offset *= 2) {
        int below = __shfl_up_sync(group_mask(), v, offset, kGroup);
        if (threadIdx.x % kGroup >= offset)
            v += below;
    }
    return v;
}

// The sum of the group's segment, in all of its lanes.
__device__ int group_sum(const int *in, Segment s)
{
    int sum = 0;
    for (long long i = s.begin; i < s.end; i += kGroup) {
        const long long mine = i + threadIdx.x % kGroup;
        int v = mine < s.end ? in[mine] : 0;
        for (int offset = 1; offset < kGroup; offset *= 2)
            v += __shfl_xor_sync(group_mask(), v, offset, kGroup);
        sum += v;
    }
    return sum;
}

__global__ void sum_warps(const int *in, int n, int *warp_sums, int warps)
{
    int sum = group_sum(in, my_segment(n));
    for (int offset = kGroup; offset < 32; offset *= 2) // the groups are together again
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0 && warp_index() < warps)
        warp_sums[warp_index()] = sum;
}

// One warp is enough for one sum per 1024 elements.
__global__ void scan_sums(int *warp_sums, int warps)
{
    int carry = 0;
    for (int start = 0; start < warps; start += 32) {
        const int i = start + threadIdx.x;
        const int sum = i < warps ? warp_sums[i] : 0;
        int inclusive = sum;
        for (int offset = 1; offset < 32; offset *= 2) {
            int below = __shfl_up_sync(0xffffffff, inclusive, offset);
            if (threadIdx.x >= offset)
                inclusive += below;
        }
        if (i < warps)
            warp_sums[i] = carry + inclusive - sum;
        carry += __shfl_sync(0xffffffff, inclusive, 31);
    }
}

__global__ void scan_segments(const int *in, int *out, int n, const int *warp_sums, int warps)
{
    const Segment s = my_segment(n);
    const int sum = group_sum(in, s);
    int carry = warp_index() < warps ? warp_sums[warp_index()] : 0;
    for (int g = 0; g < 32 / kGroup; ++g) { // all lanes: the groups before this one
        int other = __shfl_sync(0xffffffff, sum, g * kGroup);
        if (g < threadIdx.x % 32 / kGroup)
            carry += other;
    }
    for (long long i = s.begin; i < s.end; i += kGroup) {
        const long long mine = i + threadIdx.x % kGroup;
        const int v = mine < s.end ? in[mine] : 0;
        const int inclusive = group_inclusive_scan(v);
        if (mine < s.end)
            out[mine] = carry + inclusive - v;
        carry += __shfl_sync(group_mask(), inclusive, kGroup - 1, kGroup);
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    if (n == 0)
        return;
    const int warps = (n - 1) / kWarpItems + 1;
    const int blocks = (warps - 1) / (kThreads / 32) + 1;
    int *warp_sums = static_cast<int *>(workspace);
    sum_warps<<<blocks, kThreads, 0, stream>>>(in, n, warp_sums, warps);
    scan_sums<<<1, 32, 0, stream>>>(warp_sums, warps);
    scan_segments<<<blocks, kThreads, 0, stream>>>(in, out, n, warp_sums, warps);
}
