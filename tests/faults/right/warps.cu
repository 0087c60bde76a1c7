// What looks like a fault within a warp, and is none.
#include "../faults.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

// case exchange_with_syncwarp: clean
__global__ void exchange_with_syncwarp(const int *in, int *out, int trips)
{
    __shared__ int s[128];
    int t = threadIdx.x, v = in[t];
    for (int k = 0; k < trips; ++k) {
        s[t] = v;
        __syncwarp();
        v = s[t ^ 1] + 1;
        __syncwarp();
    }
    out[t] = v;
}
CASE(exchange_with_syncwarp)
{
    int *out = fresh<int>(128);
    exchange_with_syncwarp<<<1, 128>>>(input(128), out, 4);
    expect(out, 128, [](size_t i) { return i % 3 + 5; });
}

// The reduction that `volatile` used to do, as it should be written.
// case reduction_with_syncwarp: clean
__global__ void reduction_with_syncwarp(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        int v = s[t] + s[t + 32];
        for (int o = 16; o; o /= 2) {
            s[t] = v;
            __syncwarp();
            v += t < o ? s[t + o] : 0;
            __syncwarp();
        }
        if (t == 0)
            *out = v;
    }
}
CASE(reduction_with_syncwarp)
{
    int *out = fresh<int>(1);
    reduction_with_syncwarp<<<1, 64>>>(input(64), out);
    expect(out, 1, [](size_t) { return input_sum(64); });
}

// A mask of two lanes, in a branch, then one of all.
// case pairs_in_a_branch: clean
__global__ void pairs_in_a_branch(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t == 4 || t == 5)
        v = __shfl_xor_sync(0x30, v, 1);
    else if (t >= 16)
        v = __shfl_xor_sync(0xffff0000u, v, 8);
    v += __shfl_xor_sync(FULL, v, 16);
    out[t] = v;
}
CASE(pairs_in_a_branch)
{
    int *out = fresh<int>(32);
    pairs_in_a_branch<<<1, 32>>>(made<int>(32, [](size_t i) { return i; }), out);
    auto first = [](size_t i) { return i == 4 || i == 5 ? i ^ 1 : i >= 16 ? i ^ 8 : i; };
    expect(out, 32, [=](size_t i) { return first(i) + first(i ^ 16); });
}

// Pairs meet in rounds: at one time lanes of one warp stand in different rounds of one loop.
// case pairs_in_rounds: clean
__global__ void pairs_in_rounds(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    for (int r = 1; r < 32; ++r) {
        unsigned pair = 1u << t | 1u << (t ^ r);
        for (int k = 0; k < (t * r) % 5; ++k)
            v += k & 0;
        v = max(v, __shfl_xor_sync(pair, v, r));
    }
    out[t] = v;
}
CASE(pairs_in_rounds)
{
    int *out = fresh<int>(32);
    pairs_in_rounds<<<1, 32>>>(made<int>(32, [](size_t i) { return i * 7 % 32; }), out);
    expect(out, 32, [](size_t) { return 31; });
}

// Groups of eight lanes leave the loop at different times.
// case eight_lanes: clean
__global__ void eight_lanes(const int *in, int *out)
{
    int t = threadIdx.x, lane = t % 8, group = t / 8 % 4;
    unsigned mask = 0xffu << 8 * group;
    int sum = 0;
    for (int k = 0; k < group + 1; ++k) {
        int v = in[t] + k;
        for (int o = 4; o; o /= 2)
            v += __shfl_down_sync(mask, v, o, 8);
        sum += __shfl_sync(mask, v, 0, 8);
    }
    out[t] = sum + lane;
}
CASE(eight_lanes)
{
    int *out = fresh<int>(64);
    eight_lanes<<<1, 64>>>(made<int>(64, [](size_t) { return 1; }), out);
    expect(out, 64, [](size_t i) {
        size_t group = i / 8 % 4;
        return 8 * (group + 1) + 8 * group * (group + 1) / 2 + i % 8;
    });
}

// The mask that a ballot gives names those, and only those, that go in.
// case mask_from_a_ballot: clean
__global__ void mask_from_a_ballot(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    unsigned large = __ballot_sync(FULL, v > 1);
    if (v > 1) {
        int first = __shfl_sync(large, t, __ffs(large) - 1);
        v = 10 * first + __popc(large & ((1u << t) - 1));
    }
    out[t] = v;
}
CASE(mask_from_a_ballot)
{
    int *out = fresh<int>(32);
    mask_from_a_ballot<<<1, 32>>>(input(32), out);
    expect(out, 32, [](size_t i) { return i % 3 == 0 ? 1 : 10 + i / 3 * 2 + i % 3 - 1; });
}

// Lanes without an element bring a neutral one, so all of them take part.
// case all_take_part: clean
__global__ void all_take_part(const int *in, int *out, int n)
{
    int t = threadIdx.x, v = t < n ? in[t] : 0;
    for (int o = 1; o < 32; o *= 2) {
        int x = __shfl_up_sync(FULL, v, o);
        if (t >= o)
            v += x;
    }
    if (t < n)
        out[t] = v;
}
CASE(all_take_part)
{
    int *out = fresh<int>(20);
    all_take_part<<<1, 32>>>(input(20), out, 20);
    expect(out, 20, [](size_t i) { return input_sum(i + 1); });
}

// Lanes that have exited count as arrived (PTX ISA, shfl.sync: "all non-exited threads").
// case mask_names_exited_lanes: clean
__global__ void mask_names_exited_lanes(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    if (t >= n)
        return;
    unsigned votes = __ballot_sync(FULL, in[t] > 1);
    out[t] = __popc(votes & ((1u << t) - 1)) + __shfl_sync(FULL, in[t], 0);
}
CASE(mask_names_exited_lanes)
{
    int *out = fresh<int>(20);
    mask_names_exited_lanes<<<1, 32>>>(input(20), out, 20);
    expect(out, 20, [](size_t i) { return i / 3 * 2 + (i % 3 == 2) + 1; });
}

// A warp of 17 threads.
// case last_warp_not_full: clean
__global__ void last_warp_not_full(const int *in, int *out)
{
    __shared__ int totals[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, v = in[t];
    unsigned mask = warp == 3 ? (1u << 17) - 1 : FULL;
    for (int o = 1; o < 32; o *= 2) {
        int x = __shfl_up_sync(mask, v, o);
        if (lane >= o)
            v += x;
    }
    if (lane == (warp == 3 ? 16 : 31))
        totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w)
        v += totals[w];
    out[t] = v;
}
CASE(last_warp_not_full)
{
    int *out = fresh<int>(113);
    last_warp_not_full<<<1, 113>>>(input(113), out);
    expect(out, 113, [](size_t i) { return input_sum(i + 1); });
}

// case warp_aggregated_atomics: clean
__global__ void warp_aggregated_atomics(const int *in, int *kept, int *count, int n)
{
    namespace cg = cooperative_groups;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == 3) {
        auto active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0)
            base = atomicAdd(count, static_cast<int>(active.size()));
        base = active.shfl(base, 0);
        kept[base + active.thread_rank()] = in[i];
    }
}
CASE(warp_aggregated_atomics)
{
    int *kept = fresh<int>(100), *count = zeros<int>(1);
    warp_aggregated_atomics<<<3, 128>>>(input(300), kept, count, 300);
    expect(count, 1, [](size_t) { return 100; });
    expect(kept, 100, [](size_t) { return 3; });
}

// case matched_lanes: clean
__global__ void matched_lanes(const int *ids, int *counts, int tokens)
{
    __shared__ int local[4];
    int t = threadIdx.x;
    if (t < 4)
        local[t] = 0;
    __syncthreads();
    int id = t < tokens ? ids[t] : 0;
    unsigned same = __match_any_sync(FULL, id);
    if (__ffs(same) - 1 == t % 32)
        atomicAdd(&local[id], __popc(same));
    __syncthreads();
    if (t < 4)
        counts[t] = local[t];
}
CASE(matched_lanes)
{
    int *counts = fresh<int>(4);
    matched_lanes<<<1, 64>>>(input(60), counts, 60);
    expect(counts, 4, [](size_t i) { return i ? 20 : 4; });
}

// case tiles_of_the_block: clean
__global__ void tiles_of_the_block(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quarter = cg::tiled_partition<8>(warp);
    __shared__ int s[64];
    int v = in[block.thread_rank()];
    int sum = cg::reduce(quarter, v, cg::plus<int>());
    int before = cg::exclusive_scan(warp, v);
    s[block.thread_rank()] = sum;
    quarter.sync();
    sum += s[block.thread_rank() ^ 4];
    if (quarter.meta_group_rank() == 1)
        sum += quarter.any(v == 3) ? 100 : 0;
    out[block.thread_rank()] = 1000 * before + sum;
}
CASE(tiles_of_the_block)
{
    int *out = fresh<int>(64);
    tiles_of_the_block<<<1, 64>>>(made<int>(64, [](size_t i) { return i % 2 + 2; }), out);
    expect(out, 64, [](size_t i) {
        size_t lane = i % 32;
        return 1000 * (lane / 2 * 5 + lane % 2 * 2) + 40 + (lane / 8 == 1 ? 100 : 0);
    });
}

// A loop whose trips differ from lane to lane, and a sync of all behind it.
// case together_after_a_loop: clean
__global__ void together_after_a_loop(const int *in, int *out)
{
    int t = threadIdx.x, v = 0;
    for (int k = 0; k < in[t]; ++k)
        v += k + 1;
    __syncwarp();
    out[t] = v + __shfl_xor_sync(FULL, v, 1);
}
CASE(together_after_a_loop)
{
    int *out = fresh<int>(32);
    together_after_a_loop<<<1, 32>>>(input(32), out);
    auto sum = [](size_t i) { return (i % 3 + 1) * (i % 3 + 2) / 2; };
    expect(out, 32, [=](size_t i) { return sum(i) + sum(i ^ 1); });
}

// A shuffle orders memory among the lanes that its mask names.
// case shuffle_orders_memory: clean
__global__ void shuffle_orders_memory(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    unsigned votes = __ballot_sync(FULL, in[t] == 1);
    out[t] = s[31 - t] + __popc(votes);
}
CASE(shuffle_orders_memory)
{
    int *out = fresh<int>(32);
    shuffle_orders_memory<<<1, 32>>>(input(32), out);
    expect(out, 32, [](size_t i) { return (31 - i) % 3 + 12; });
}

// One lane waits for another one of its warp: they make progress independently.
// case lane_waits_for_lane: clean
__global__ void lane_waits_for_lane(int *out)
{
    __shared__ volatile int flag;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncwarp();
    if (t == 0) {
        while (flag == 0)
            ;
        out[0] = flag;
    } else if (t == 31) {
        flag = 5;
    }
}
CASE(lane_waits_for_lane)
{
    int *out = fresh<int>(1);
    lane_waits_for_lane<<<1, 32>>>(out);
    expect(out, 1, [](size_t) { return 5; });
}

// Every lane takes the lock in turn.
// case lock_of_lanes: clean
__global__ void lock_of_lanes(int *out)
{
    __shared__ int lock, sum;
    int t = threadIdx.x;
    if (t == 0)
        lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            sum = sum + t;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    out[t] = sum;
}
CASE(lock_of_lanes)
{
    int *out = fresh<int>(64);
    lock_of_lanes<<<1, 64>>>(out);
    expect(out, 64, [](size_t) { return 2016; });
}

// Every second lane is gone; the rest name all, or themselves.
// case every_second_lane_exits: clean
__global__ void every_second_lane_exits(const int *in, int *out)
{
    int t = threadIdx.x;
    if (t & 1)
        return;
    __syncwarp();
    out[t / 2] = __shfl_xor_sync(0x55555555, in[t], 2);
}
CASE(every_second_lane_exits)
{
    int *out = fresh<int>(16);
    every_second_lane_exits<<<1, 32>>>(input(32), out);
    expect(out, 16, [](size_t i) { return (2 * i ^ 2) % 3 + 1; });
}

// The last warp of a block knows more than the others when it ends; the next kernel's blocks have
// fewer warps, and the same shared memory.
// case narrow_block_after_wide: clean
__global__ void last_warp_goes_on(const int *in, int *out)
{
    __shared__ int a[64];
    int t = threadIdx.x;
    if (t < 64)
        a[t] = in[t];
    __syncthreads();
    if (t >= 224) {
        int sum = 0;
        for (int k = 0; k < 64; k++) {
            sum += a[k];
            __syncwarp();
            sum += a[(k + t) % 64];
        }
        out[t - 224] = sum;
    }
}
__global__ void narrow_block_after_wide(int *out)
{
    __shared__ int a[64];
    int t = threadIdx.x;
    a[t] = t;
    __syncthreads();
    out[t] = a[63 - t];
}
CASE(narrow_block_after_wide)
{
    int *sums = fresh<int>(32), *out = fresh<int>(64);
    last_warp_goes_on<<<1, 256>>>(input(64), sums);
    narrow_block_after_wide<<<1, 64>>>(out);
    expect(out, 64, [](size_t i) { return 63 - i; });
}
