// Races in global memory, within a block and between blocks.
#include "../faults.cuh"

#include <cooperative_groups.h>

// case total_of_every_block: data_race
__global__ void total_of_every_block(const int *in, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int kept = __syncthreads_count(i < n && in[i] > 1);
    if (threadIdx.x == 0)
        *count = kept * (blockIdx.x + 1); // <-- data_race
}
CASE(total_of_every_block)
{
    total_of_every_block<<<6, 64>>>(input(384), fresh<int>(1), 384);
}

// Each tile also writes the first element of the next one.
// case first_of_the_next_tile: data_race
__global__ void first_of_the_next_tile(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i]; // <-- data_race
    if (threadIdx.x == blockDim.x - 1 && i + 1 < n)
        out[i + 1] = 2 * in[i]; // <-- data_race
}
CASE(first_of_the_next_tile)
{
    first_of_the_next_tile<<<4, 64>>>(input(256), fresh<int>(256), 256);
}

// case counter_without_atomics: data_race
__global__ void counter_without_atomics(const int *in, int *count)
{
    if (in[blockIdx.x] > 1)
        *count = *count + 1; // <-- data_race
}
CASE(counter_without_atomics)
{
    counter_without_atomics<<<30, 1>>>(input(30), zeros<int>(1));
}

// The histograms of the blocks are merged without atomics.
// case histograms_merged: data_race
__global__ void histograms_merged(const int *ids, int *counts, int tokens, int experts)
{
    __shared__ int local[8];
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        local[e] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tokens; i += gridDim.x * blockDim.x)
        atomicAdd(&local[ids[i]], 1);
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        if (local[e])
            counts[e] += local[e]; // <-- data_race
}
CASE(histograms_merged)
{
    auto id = [](size_t i) { return i % 8; };
    histograms_merged<<<4, 64>>>(made<int>(512, id), zeros<int>(8), 512, 8);
}

// Where the first block happens to come first, it is ordered.
// case cleared_by_the_first_block: data_race
// in some schedules
__global__ void cleared_by_the_first_block(const int *ids, int *counts, int tokens)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x < 4)
            counts[threadIdx.x] = 0; // <-- data_race
        __threadfence();
        __syncthreads();
    }
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens)
        atomicAdd(&counts[ids[i]], 1); // <-- data_race
}
CASE(cleared_by_the_first_block)
{
    cleared_by_the_first_block<<<4, 64>>>(input(256), zeros<int>(4), 256);
}

// A block barrier taken for one of the grid.
// case block_barrier_for_the_grid: data_race
// also: uninitialized_read
__global__ void block_barrier_for_the_grid(const int *in, int *sums, int *out)
{
    int b = blockIdx.x, t = threadIdx.x, before = 0;
    int sum = __syncthreads_count(in[b * 64 + t] > 1);
    if (t == 0)
        sums[b] = sum; // <-- data_race
    __syncthreads();
    for (int k = 0; k < b; ++k)
        before += sums[k];
    out[b * 64 + t] = before;
}
CASE(block_barrier_for_the_grid)
{
    block_barrier_for_the_grid<<<5, 64>>>(input(320), fresh<int>(5), fresh<int>(320));
}

// A stencil in place.
// case neighbours_in_place: data_race
__global__ void neighbours_in_place(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n)
        data[i] = data[i] + data[i - 1]; // <-- data_race
}
CASE(neighbours_in_place)
{
    neighbours_in_place<<<2, 128>>>(input(256), 256);
}

// case exchange_in_a_block: data_race
// also: uninitialized_read
__global__ void exchange_in_a_block(const int *in, int *scratch, int *out)
{
    int t = threadIdx.x, sum = 0;
    scratch[t] = in[t]; // <-- data_race
    for (int k = 0; k < t; ++k)
        sum += scratch[k];
    out[t] = sum;
}
CASE(exchange_in_a_block)
{
    exchange_in_a_block<<<1, 256>>>(input(256), fresh<int>(256), fresh<int>(256));
}

// case exchange_with_syncwarp_only: data_race
// also: uninitialized_read
__global__ void exchange_with_syncwarp_only(const int *in, int *scratch, int *out)
{
    int t = threadIdx.x;
    scratch[t] = in[t]; // <-- data_race
    __syncwarp();
    out[t] = scratch[t ^ 32];
}
CASE(exchange_with_syncwarp_only)
{
    exchange_with_syncwarp_only<<<1, 64>>>(input(64), fresh<int>(64), fresh<int>(64));
}

// case exchange_in_a_warp: data_race
// also: uninitialized_read
__global__ void exchange_in_a_warp(const int *in, int *scratch, int *out)
{
    int t = threadIdx.x;
    scratch[t] = in[t]; // <-- data_race
    out[t] = scratch[31 - t];
}
CASE(exchange_in_a_warp)
{
    exchange_in_a_warp<<<1, 32>>>(input(32), fresh<int>(32), fresh<int>(32));
}

// case bytes_of_one_word: data_race
__global__ void bytes_of_one_word(const int *in, unsigned *words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned bit = in[i] > 1 ? 1u << i % 32 : 0u;
    words[i / 32] |= bit; // <-- data_race
}
CASE(bytes_of_one_word)
{
    bytes_of_one_word<<<2, 64>>>(input(128), zeros<unsigned>(4));
}

// An atomic and a plain store to the same counter.
// case reset_beside_atomics: data_race
// in some schedules
__global__ void reset_beside_atomics(int *counter, int *out)
{
    int mine = atomicAdd(counter, 1); // <-- data_race
    out[blockIdx.x] = mine;
    if (blockIdx.x == gridDim.x - 1)
        *counter = 0; // <-- data_race
}
CASE(reset_beside_atomics)
{
    reset_beside_atomics<<<8, 1>>>(zeros<int>(1), fresh<int>(8));
}

// case result_read_beside_atomics: data_race
__global__ void result_read_beside_atomics(const int *in, int *sum, int *out)
{
    atomicAdd(sum, in[blockIdx.x]); // <-- data_race
    out[blockIdx.x] = *sum;
}
CASE(result_read_beside_atomics)
{
    result_read_beside_atomics<<<8, 1>>>(input(8), zeros<int>(1), fresh<int>(8));
}

// Read through the read-only path although another thread of the grid writes it.
// case read_only_path: data_race
__global__ void read_only_path(const int *in, int *sums, int *out)
{
    int b = blockIdx.x;
    sums[b] = in[b]; // <-- data_race
    if (b > 0)
        out[b] = __ldg(sums + b - 1);
}
CASE(read_only_path)
{
    read_only_path<<<6, 1>>>(input(6), zeros<int>(6), fresh<int>(6));
}

// One element is 8 bytes wide, the other view 4.
// case halves_of_a_state: data_race
__global__ void halves_of_a_state(unsigned long long *states, int *out, int n)
{
    int b = blockIdx.x;
    states[b] = 1ull << 32 | b; // <-- data_race
    out[b] = reinterpret_cast<int *>(states)[2 * ((b + 1) % n) + 1];
}
CASE(halves_of_a_state)
{
    halves_of_a_state<<<6, 1>>>(zeros<unsigned long long>(6), fresh<int>(6), 6);
}

// The grid's sync comes one phase too late.
// case grid_sync_too_late: data_race
// also: uninitialized_read
__global__ void grid_sync_too_late(const int *in, int *sums, int *out)
{
    auto grid = cooperative_groups::this_grid();
    int b = blockIdx.x;
    sums[b] = in[b]; // <-- data_race
    int before = b > 0 ? sums[b - 1] : 0;
    grid.sync();
    out[b] = before + sums[(b + 1) % gridDim.x];
}
CASE(grid_sync_too_late)
{
    const int *in = input(4);
    int *sums = fresh<int>(4), *out = fresh<int>(4);
    void *arguments[] = {&in, &sums, &out};
    cudaLaunchCooperativeKernel(grid_sync_too_late, dim3(4), dim3(32), arguments, 0, nullptr);
}

// The spin barrier is never reset: the second launch runs through it.
// case spin_barrier_used_twice: data_race
__global__ void spin_barrier_used_twice(const int *in, unsigned *arrived, int *sums, int *out)
{
    int b = blockIdx.x;
    sums[b] = in[b]; // <-- data_race
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x)
        ;
    __threadfence();
    out[b] = sums[(b + 1) % gridDim.x];
}
CASE(spin_barrier_used_twice)
{
    unsigned *arrived = zeros<unsigned>(1);
    int *in = input(8), *sums = fresh<int>(8), *out = fresh<int>(8);
    void *arguments[] = {&in, &arrived, &sums, &out};
    for (int k = 0; k < 2; ++k)
        cudaLaunchCooperativeKernel(spin_barrier_used_twice, dim3(8), dim3(1), arguments, 0, nullptr);
}

// Every block writes all the offsets, each its own idea of them.
// case offsets_of_every_block: data_race
__global__ void offsets_of_every_block(const int *counts, int *offsets, int experts)
{
    int run = blockIdx.x;
    for (int e = 0; e < experts; ++e) {
        offsets[e] = run; // <-- data_race
        run += counts[e];
    }
}
CASE(offsets_of_every_block)
{
    offsets_of_every_block<<<3, 1>>>(input(8), fresh<int>(8), 8);
}

// The same value by many, and somebody reads it meanwhile.
// case same_value_read_meanwhile: data_race
__global__ void same_value_read_meanwhile(int *found, int *out)
{
    if (blockIdx.x % 2)
        *found = 1; // <-- data_race
    else
        out[blockIdx.x] = *found;
}
CASE(same_value_read_meanwhile)
{
    same_value_read_meanwhile<<<8, 1>>>(made<int>(1, [](size_t) { return 1; }), fresh<int>(8));
}
