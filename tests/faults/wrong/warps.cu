// Within a warp: operations whose mask does not fit, and lock-step that does not exist.
#include "../faults.cuh"

#include <cooperative_groups.h>

// Right before Volta.
// case volatile_reduction: data_race
__global__ void volatile_reduction(const int *in, int *out)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        s[t] = s[t] + s[t + 32]; // <-- data_race
        s[t] = s[t] + s[t + 16]; // <-- data_race
        s[t] = s[t] + s[t + 8];  // <-- data_race
        s[t] = s[t] + s[t + 4];  // <-- data_race
        s[t] = s[t] + s[t + 2];  // <-- data_race
        s[t] = s[t] + s[t + 1];  // <-- data_race
    }
    if (t == 0)
        *out = s[0];
}
CASE(volatile_reduction)
{
    volatile_reduction<<<1, 64>>>(input(64), fresh<int>(1));
}

// case volatile_scan: data_race
// also: missing_fence
__global__ void volatile_scan(const int *in, int *out)
{
    __shared__ int memory[48];
    volatile int *s = memory;
    int t = threadIdx.x;
    if (t < 16)
        s[t] = 0;
    s[t + 16] = in[t];
    __syncwarp();
    for (int o = 1; o < 32; o *= 2)
        s[t + 16] = s[t + 16] + (t >= o ? s[t + 16 - o] : 0); // <-- data_race
    out[t] = s[t + 16];
}
CASE(volatile_scan)
{
    volatile_scan<<<1, 32>>>(input(32), fresh<int>(32));
}

// case exchange_without_sync: data_race
// also: uninitialized_read
__global__ void exchange_without_sync(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t]; // <-- data_race
    out[t] = s[t ^ 1];
}
CASE(exchange_without_sync)
{
    exchange_without_sync<<<1, 128>>>(input(128), fresh<int>(128));
}

// case second_exchange_without_sync: data_race
__global__ void second_exchange_without_sync(const int *in, int *out, int trips)
{
    __shared__ int s[32];
    int t = threadIdx.x, v = in[t];
    for (int k = 0; k < trips; ++k) {
        s[t] = v; // <-- data_race
        __syncwarp();
        v += s[(t + k) % 32]; // a second __syncwarp is missing
    }
    out[t] = v;
}
CASE(second_exchange_without_sync)
{
    second_exchange_without_sync<<<1, 32>>>(input(32), fresh<int>(32), 3);
}

// Each half is in step with itself only.
// case across_the_halves: data_race
// also: uninitialized_read
__global__ void across_the_halves(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t]; // <-- data_race
    __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
    out[t] = s[t ^ 16];
}
CASE(across_the_halves)
{
    across_the_halves<<<1, 32>>>(input(32), fresh<int>(32));
}

// case across_eight_lanes: data_race
// also: uninitialized_read
__global__ void across_eight_lanes(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t]; // <-- data_race
    tile.sync();
    out[t] = s[(t + 4) % 64]; // half of them belong to the next tile
}
CASE(across_eight_lanes)
{
    across_eight_lanes<<<1, 64>>>(input(64), fresh<int>(64));
}

// case syncwarp_between_warps: data_race
// also: uninitialized_read
__global__ void syncwarp_between_warps(const int *in, int *out)
{
    __shared__ unsigned char s[64];
    int t = threadIdx.x;
    s[t] = in[t]; // <-- data_race
    __syncwarp();
    out[t] = s[t ^ 32];
}
CASE(syncwarp_between_warps)
{
    syncwarp_between_warps<<<1, 64>>>(input(64), fresh<int>(64));
}

// case leader_reads_too_early: data_race
// also: uninitialized_read
__global__ void leader_reads_too_early(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t]; // <-- data_race
    if (t == 0) {
        int sum = 0;
        for (int k = 0; k < 32; ++k)
            sum += s[k];
        *out = sum;
    }
}
CASE(leader_reads_too_early)
{
    leader_reads_too_early<<<1, 32>>>(input(32), fresh<int>(1));
}

// case others_read_too_early: data_race
// also: uninitialized_read
__global__ void others_read_too_early(const int *in, int *out)
{
    __shared__ int base;
    if (threadIdx.x == 0)
        base = in[0]; // <-- data_race
    out[threadIdx.x] = base + threadIdx.x;
}
CASE(others_read_too_early)
{
    others_read_too_early<<<1, 32>>>(input(32), fresh<int>(32));
}

// A shuffle orders registers; its mask must name both lanes to order memory as well.
// case vote_of_one_half: data_race
// also: uninitialized_read
__global__ void vote_of_one_half(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t]; // <-- data_race
    unsigned votes = 0;
    if (t < 16)
        votes = __ballot_sync(0xffff, in[t] > 1);
    out[t] = s[31 - t] + votes;
}
CASE(vote_of_one_half)
{
    vote_of_one_half<<<1, 32>>>(input(32), fresh<int>(32));
}

// The others wait at the block's barrier.
// case full_mask_in_a_branch: warp_sync
__global__ void full_mask_in_a_branch(const int *in, int *out, int n)
{
    int t = threadIdx.x, v = 0;
    if (t < n) {
        v = in[t];
        for (int o = 1; o < 32; o *= 2) {
            int x = __shfl_up_sync(FULL, v, o); // <-- warp_sync
            if (t >= o)
                v += x;
        }
    }
    __syncthreads();
    out[t] = v;
}
CASE(full_mask_in_a_branch)
{
    full_mask_in_a_branch<<<1, 32>>>(input(32), fresh<int>(32), 20);
}

// Two operations, one on each side of the branch.
// case shuffles_on_both_sides: warp_sync
__global__ void shuffles_on_both_sides(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t & 1) {
        out[t] = v;
        v = __shfl_xor_sync(FULL, v, 2); // <-- warp_sync
    } else {
        out[t] = -v;
        v = __shfl_xor_sync(FULL, v, 4); // <-- warp_sync
    }
    out[t] += v;
}
CASE(shuffles_on_both_sides)
{
    shuffles_on_both_sides<<<1, 32>>>(input(32), fresh<int>(32));
}

// case ballot_in_a_loop: warp_sync
__global__ void ballot_in_a_loop(const int *in, int *out)
{
    int t = threadIdx.x, votes = 0;
    for (int k = 0; k < in[t]; ++k)
        votes += __popc(__ballot_sync(FULL, in[k] > 1)); // <-- warp_sync
    __syncthreads();
    out[t] = votes;
}
CASE(ballot_in_a_loop)
{
    ballot_in_a_loop<<<1, 32>>>(input(32), fresh<int>(32));
}

// case mask_without_the_lane: warp_sync
__global__ void mask_without_the_lane(const int *in, int *out)
{
    int v = in[threadIdx.x];
    out[threadIdx.x] = __shfl_xor_sync(0x0000ffff, v, 1); // <-- warp_sync
}
CASE(mask_without_the_lane)
{
    mask_without_the_lane<<<1, 32>>>(input(32), fresh<int>(32));
}

// case syncwarp_without_the_lane: warp_sync
__global__ void syncwarp_without_the_lane(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp((1u << t % 32) - 1); // <-- warp_sync
    out[t] = s[t];
}
CASE(syncwarp_without_the_lane)
{
    syncwarp_without_the_lane<<<1, 64>>>(input(64), fresh<int>(64));
}

// case vote_without_the_lane: warp_sync
__global__ void vote_without_the_lane(const int *in, int *out)
{
    unsigned even = __ballot_sync(FULL, in[threadIdx.x] % 2 == 0);
    out[threadIdx.x] = __any_sync(even, in[threadIdx.x] > 1); // <-- warp_sync
}
CASE(vote_without_the_lane)
{
    vote_without_the_lane<<<1, 32>>>(input(32), fresh<int>(32));
}

// Lanes of one operation must name the same set.
// case different_masks: warp_sync
__global__ void different_masks(const int *in, int *out)
{
    int t = threadIdx.x;
    unsigned mask = t < 16 ? FULL : 0xffff0000u;
    int v = __shfl_xor_sync(mask, in[t], 1); // <-- warp_sync
    __syncthreads();
    out[t] = v;
}
CASE(different_masks)
{
    different_masks<<<1, 32>>>(input(32), fresh<int>(32));
}

// case lane_outside_of_the_mask: warp_sync
__global__ void lane_outside_of_the_mask(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t < 16)
        v = __shfl_sync(0x0000ffff, v, 20); // <-- warp_sync
    out[t] = v;
}
CASE(lane_outside_of_the_mask)
{
    lane_outside_of_the_mask<<<1, 32>>>(input(32), fresh<int>(32));
}

// The mask may name lanes that have exited, but their values are gone.
// case value_of_an_exited_lane: warp_sync
__global__ void value_of_an_exited_lane(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    if (t >= n)
        return;
    int v = in[t];
    for (int o = 16; o; o /= 2)
        v += __shfl_down_sync(FULL, v, o); // <-- warp_sync
    if (t == 0)
        *out = v;
}
CASE(value_of_an_exited_lane)
{
    value_of_an_exited_lane<<<1, 32>>>(input(32), fresh<int>(1), 20);
}

// case barrier_instead_of_syncwarp: warp_sync
__global__ void barrier_instead_of_syncwarp(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t % 32 < 8)
        __syncwarp(); // <-- warp_sync
    __syncthreads();
    out[t] = s[63 - t];
}
CASE(barrier_instead_of_syncwarp)
{
    barrier_instead_of_syncwarp<<<1, 64>>>(input(64), fresh<int>(64));
}

// case match_under_a_guard: warp_sync
__global__ void match_under_a_guard(const int *ids, int *counts, int tokens)
{
    __shared__ int local[4];
    int t = threadIdx.x;
    if (t < 4)
        local[t] = 0;
    __syncthreads();
    if (t < tokens) {
        unsigned same = __match_any_sync(FULL, ids[t]); // <-- warp_sync
        if (__ffs(same) - 1 == t % 32)
            atomicAdd(&local[ids[t]], __popc(same));
    }
    __syncthreads();
    if (t < 4)
        counts[t] = local[t];
}
CASE(match_under_a_guard)
{
    match_under_a_guard<<<1, 64>>>(input(64), fresh<int>(4), 50);
}

// A tile's operation in a branch that half of the tile takes.
// case tile_in_a_branch: warp_sync
__global__ void tile_in_a_branch(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, v = in[t];
    if (tile.thread_rank() < 8)
        v = tile.shfl_xor(v, 8); // <-- warp_sync
    __syncthreads();
    out[t] = v;
}
CASE(tile_in_a_branch)
{
    tile_in_a_branch<<<1, 32>>>(input(32), fresh<int>(32));
}

// The active lanes are some of those that the shuffle needs.
// case active_mask_in_a_branch: warp_sync
__global__ void active_mask_in_a_branch(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (v > 1) {
        unsigned active = __activemask();
        v += __shfl_down_sync(active, v, 1); // <-- warp_sync
    }
    out[t] = v;
}
CASE(active_mask_in_a_branch)
{
    active_mask_in_a_branch<<<1, 32>>>(input(32), fresh<int>(32));
}
