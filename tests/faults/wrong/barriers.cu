// Barriers that not every thread of the block reaches, or not the same one.
#include "../faults.cuh"

#include <cooperative_groups.h>

// The tail of the last warp skips the scan and writes its zeros.
// case scan_under_a_guard: divergent_barrier
__global__ void scan_under_a_guard(const int *in, int *out, int n)
{
    __shared__ int s[256];
    int t = threadIdx.x, v = 0;
    if (t < n) {
        s[t] = in[t];
        __syncthreads(); // <-- divergent_barrier
        for (int k = 0; k <= t; ++k)
            v += s[k];
    }
    out[t] = v;
}
CASE(scan_under_a_guard)
{
    scan_under_a_guard<<<1, 256>>>(input(200), fresh<int>(256), 200);
}

// Whole warps skip it and arrive at the next one.
// case guard_of_whole_warps: divergent_barrier
// also: data_race uninitialized_read
__global__ void guard_of_whole_warps(const int *in, int *out, int n)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = in[t];
        __syncthreads(); // <-- divergent_barrier
        s[t] += s[(t + 32) % n];
    }
    __syncthreads(); // <-- divergent_barrier
    if (t < n)
        out[t] = s[t];
}
CASE(guard_of_whole_warps)
{
    guard_of_whole_warps<<<1, 256>>>(input(64), fresh<int>(64), 64);
}

// case in_both_branches: divergent_barrier
__global__ void in_both_branches(const int *in, int *out)
{
    int t = threadIdx.x;
    if (t & 1) {
        out[t] = in[t];
        __syncthreads(); // <-- divergent_barrier
        out[t] += in[t ^ 1];
    } else {
        out[t] = in[t] + 1;
        __syncthreads(); // <-- divergent_barrier
        out[t] -= in[t ^ 1];
    }
}
CASE(in_both_branches)
{
    in_both_branches<<<1, 64>>>(input(64), fresh<int>(64));
}

// case one_barrier_per_warp: divergent_barrier
__global__ void one_barrier_per_warp(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t < 32) {
        __syncthreads(); // <-- divergent_barrier
        out[t] = s[63 - t];
    } else {
        __syncthreads(); // <-- divergent_barrier
        out[t] = s[63 - t] + 1;
    }
}
CASE(one_barrier_per_warp)
{
    one_barrier_per_warp<<<1, 64>>>(input(64), fresh<int>(64));
}

// 300 elements, 256 threads: some go once more around.
// case trips_of_a_strided_loop: divergent_barrier
// also: data_race
__global__ void trips_of_a_strided_loop(const int *in, int *out, int n)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    for (int i = t; i < n; i += 256) {
        s[t] = in[i];
        __syncthreads(); // <-- divergent_barrier
        out[i] = s[t] + s[t ^ 1];
        __syncthreads(); // <-- divergent_barrier
    }
    s[t] = t;
    __syncthreads(); // <-- divergent_barrier
    out[t] += s[255 - t];
}
CASE(trips_of_a_strided_loop)
{
    trips_of_a_strided_loop<<<1, 256>>>(input(300), fresh<int>(300), 300);
}

// case continue_over_the_barrier: divergent_barrier
// also: data_race uninitialized_read
__global__ void continue_over_the_barrier(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < n; ++k) {
        if (in[(t + k) % 64] == 1)
            continue;
        s[t] = in[t];
        __syncthreads(); // <-- divergent_barrier
        sum += s[t];
    }
    out[t] = sum;
}
CASE(continue_over_the_barrier)
{
    continue_over_the_barrier<<<1, 64>>>(input(64), fresh<int>(64), 4);
}

// case in_a_function: divergent_barrier
// also: data_race uninitialized_read
__device__ __forceinline__ int neighbour(int v, int *s)
{
    s[threadIdx.x] = v;
    __syncthreads(); // <-- divergent_barrier
    return s[threadIdx.x ^ 1];
}
__global__ void in_a_function(const int *in, int *out, int n)
{
    __shared__ int s[96];
    int t = threadIdx.x, v = 0;
    if (in[t] != 2)
        v = neighbour(in[t], s);
    out[t] = v + n;
}
CASE(in_a_function)
{
    in_a_function<<<1, 96>>>(input(96), fresh<int>(96), 96);
}

// case group_sync_in_a_branch: divergent_barrier
// also: data_race uninitialized_read
__global__ void group_sync_in_a_branch(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    auto block = cg::this_thread_block();
    __shared__ int s[64];
    int t = threadIdx.x, v = 0;
    if (t < 40) {
        s[t] = in[t];
        block.sync(); // <-- divergent_barrier
        v = s[39 - t];
    }
    out[t] = v;
}
CASE(group_sync_in_a_branch)
{
    group_sync_in_a_branch<<<1, 64>>>(input(64), fresh<int>(64));
}

// case count_in_a_branch: divergent_barrier
__global__ void count_in_a_branch(const int *in, int *out, int n)
{
    int t = threadIdx.x, kept = 0;
    if (t < n)
        kept = __syncthreads_count(in[t] > 1); // <-- divergent_barrier
    out[t] = kept;
}
CASE(count_in_a_branch)
{
    count_in_a_branch<<<1, 64>>>(input(50), fresh<int>(64), 50);
}

// Every thread votes, but at two places.
// case votes_at_two_places: divergent_barrier
__global__ void votes_at_two_places(const int *in, int *out, int threshold)
{
    int t = threadIdx.x, any;
    if (t < 32) {
        out[t] = t;
        any = __syncthreads_or(in[t] > threshold); // <-- divergent_barrier
    } else {
        any = __syncthreads_or(in[t] == 1); // <-- divergent_barrier
        out[t] = -t;
    }
    out[t] += any;
}
CASE(votes_at_two_places)
{
    votes_at_two_places<<<1, 64>>>(input(64), fresh<int>(64), 1);
}

// case first_warp_only: divergent_barrier
// also: data_race uninitialized_read
__global__ void first_warp_only(const int *in, int *out)
{
    __shared__ int totals[4], bases[4];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    if (lane == 0)
        totals[warp] = in[t];
    if (warp == 0) {
        __syncthreads(); // <-- divergent_barrier
        if (lane < 4)
            bases[lane] = totals[lane] + 1;
    }
    __syncthreads(); // <-- divergent_barrier
    out[t] = bases[warp];
}
CASE(first_warp_only)
{
    first_warp_only<<<1, 128>>>(input(128), fresh<int>(128));
}

// Three warps at a barrier for two: the third waits for one more. Lanes that come at times of their
// own may make up the number together.
// case counted_for_too_few: deadlock
// in some schedules
// says: at barrier 1, which waits for 64 threads and has
__global__ void counted_for_too_few(const int *in, int *out)
{
    int t = threadIdx.x;
    if (t < 96)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // <-- deadlock
    out[t] = in[t];
}
CASE(counted_for_too_few)
{
    counted_for_too_few<<<1, 128>>>(input(128), fresh<int>(128));
}

// case counted_for_too_many: deadlock
// says: at barrier 1, which waits for 96 threads and has 64, at
__global__ void counted_for_too_many(const int *in, int *out)
{
    int t = threadIdx.x;
    if (t < 64)
        asm volatile("bar.sync 1, 96;" ::: "memory"); // <-- deadlock
    __syncthreads();
    out[t] = in[t];
}
CASE(counted_for_too_many)
{
    counted_for_too_many<<<1, 128>>>(input(128), fresh<int>(128));
}

// The producers arrive at barrier 2, the consumers wait at barrier 1.
// case wrong_name: deadlock
// says: ; 32 threads have arrived at barrier 2, where nobody waits
__global__ void wrong_name(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = in[t];
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // <-- deadlock
        out[t - 32] = s[63 - t];
    }
}
CASE(wrong_name)
{
    wrong_name<<<1, 64>>>(input(32), fresh<int>(32));
}

// case count_that_is_no_multiple_of_32: divergent_barrier
// also: deadlock
// says: the number has to be a multiple of 32
__global__ void count_that_is_no_multiple_of_32(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    if (t < n)
        asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory"); // <-- divergent_barrier
    out[t] = in[t];
}
CASE(count_that_is_no_multiple_of_32)
{
    count_that_is_no_multiple_of_32<<<1, 64>>>(input(64), fresh<int>(64), 48);
}

// case two_counts_for_one_barrier: divergent_barrier
// also: deadlock
// says: all of them have to name the same number
__global__ void two_counts_for_one_barrier(const int *in, int *out)
{
    int t = threadIdx.x;
    if (t < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // <-- divergent_barrier
    else
        asm volatile("bar.sync 1, 96;" ::: "memory"); // <-- divergent_barrier
    out[t] = in[t];
}
CASE(two_counts_for_one_barrier)
{
    two_counts_for_one_barrier<<<1, 96>>>(input(96), fresh<int>(96));
}

// Some leave the loop between its two barriers.
// case break_between_barriers: divergent_barrier
// also: data_race
__global__ void break_between_barriers(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < n; ++k) {
        s[t] = in[t] + k;
        __syncthreads(); // <-- divergent_barrier
        sum += s[63 - t];
        if (sum > 6)
            break;
        __syncthreads(); // <-- divergent_barrier
    }
    __syncthreads(); // <-- divergent_barrier
    out[t] = sum;
}
CASE(break_between_barriers)
{
    break_between_barriers<<<1, 64>>>(input(64), fresh<int>(64), 5);
}

// case leader_at_a_barrier_of_its_own: divergent_barrier
// also: data_race uninitialized_read
__global__ void leader_at_a_barrier_of_its_own(const int *in, int *out)
{
    __shared__ int s[2];
    int t = threadIdx.x;
    if (t % 32 == 0) {
        s[t / 32] = in[t];
        __syncthreads(); // <-- divergent_barrier
    } else {
        out[t] = 1;
    }
    __syncthreads(); // <-- divergent_barrier
    out[t] = s[1 - t / 32];
}
CASE(leader_at_a_barrier_of_its_own)
{
    leader_at_a_barrier_of_its_own<<<1, 64>>>(input(64), fresh<int>(64));
}
