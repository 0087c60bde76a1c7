// Threads that wait for what never comes.
#include "../faults.cuh"

#include <cuda/atomic>
#include <cuda/barrier>

// The compiler reads the flag once: nothing in the loop can change it.
// case flag_read_once: deadlock
__global__ void flag_read_once(const int *in, int *out, int *flags)
{
    if (flags[gridDim.x + blockIdx.x] == 0)
        while (flags[blockIdx.x] == 0) // <-- deadlock
            ;
    out[blockIdx.x] = in[blockIdx.x];
}
CASE(flag_read_once)
{
    flag_read_once<<<4, 1>>>(input(4), fresh<int>(4), zeros<int>(8));
}

// case flag_after_the_barrier: deadlock
__global__ void flag_after_the_barrier(int *out)
{
    __shared__ volatile int flag;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 0)
        while (!flag) // <-- deadlock
            ;
    __syncthreads();
    if (t == 32)
        flag = 1;
    out[t] = t;
}
CASE(flag_after_the_barrier)
{
    flag_after_the_barrier<<<1, 64>>>(fresh<int>(64));
}

// case flag_after_the_syncwarp: deadlock
__global__ void flag_after_the_syncwarp(int *out)
{
    __shared__ volatile int flag;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncwarp();
    if (t < 16)
        while (!flag) // <-- deadlock
            ;
    __syncwarp();
    if (t == 20)
        flag = 1;
    out[t] = t;
}
CASE(flag_after_the_syncwarp)
{
    flag_after_the_syncwarp<<<1, 32>>>(fresh<int>(32));
}

// case lock_kept: deadlock
__device__ int kept_lock;
__global__ void lock_kept(const int *in, int *sum)
{
    while (atomicCAS(&kept_lock, 0, 1) != 0) // <-- deadlock
        ;
    __threadfence();
    if (in[blockIdx.x] > 1)
        return; // with the lock
    atomicAdd(sum, in[blockIdx.x]);
    __threadfence();
    atomicExch(&kept_lock, 0);
}
CASE(lock_kept)
{
    lock_kept<<<6, 1>>>(input(6), zeros<int>(1));
}

// More blocks than can be resident.
// case grid_barrier_by_spinning: deadlock
// says: blocks have not started and cannot before one of these ends
__global__ void grid_barrier_by_spinning(unsigned *arrived, int *out)
{
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) // <-- deadlock
            __nanosleep(100);
    }
    __syncthreads();
    out[blockIdx.x] = 1;
}
CASE(grid_barrier_by_spinning)
{
    grid_barrier_by_spinning<<<2000, 1024>>>(zeros<unsigned>(1), fresh<int>(2000));
}

// Block b waits for block b - 1, which need not have started.
// case look_back_by_block_index: deadlock
// gpu: any - a card that starts blocks in ascending order comes to the end
// schedules: last-first
__global__ void look_back_by_block_index(const int *in, int *out, volatile int *sums,
                                         volatile int *flags)
{
    int b = blockIdx.x, before = 0;
    if (b > 0) {
        while (flags[b - 1] == 0) // <-- deadlock
            ;
        __threadfence();
        before = sums[b - 1];
    }
    sums[b] = before + in[b];
    __threadfence();
    flags[b] = 1;
    out[b] = before;
}
CASE(look_back_by_block_index)
{
    look_back_by_block_index<<<40, 1>>>(input(40), fresh<int>(40), fresh<int>(40), zeros<int>(40));
}

// case own_tile_awaited: deadlock
__global__ void own_tile_awaited(const int *in, int *out, int *ticket, int *flags)
{
    int tile = atomicAdd(ticket, 1);
    while (atomicAdd(&flags[tile], 0) == 0) // <-- deadlock
        ;
    out[tile] = in[tile];
    __threadfence();
    atomicExch(&flags[tile + 1], 1);
}
CASE(own_tile_awaited)
{
    own_tile_awaited<<<5, 1>>>(input(5), fresh<int>(5), zeros<int>(1), zeros<int>(6));
}

// case two_blocks_wait_for_each_other: deadlock
__global__ void two_blocks_wait_for_each_other(volatile int *flags)
{
    while (flags[1 - blockIdx.x] == 0) // <-- deadlock
        ;
    flags[blockIdx.x] = 1;
}
CASE(two_blocks_wait_for_each_other)
{
    two_blocks_wait_for_each_other<<<2, 1>>>(zeros<int>(2));
}

// case serving_never_advanced: deadlock
__global__ void serving_never_advanced(unsigned *ticket, unsigned *serving, int *sum)
{
    unsigned mine = atomicAdd(ticket, 1);
    while (*static_cast<volatile unsigned *>(serving) != mine) // <-- deadlock
        ;
    __threadfence();
    atomicAdd(sum, 1);
}
CASE(serving_never_advanced)
{
    serving_never_advanced<<<3, 1>>>(zeros<unsigned>(1), zeros<unsigned>(1), zeros<int>(1));
}

// A count that goes from 0 to 3 never reaches 4.
// case one_too_many_awaited: deadlock
__global__ void one_too_many_awaited(unsigned *done, int *out)
{
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*done);
        if (blockIdx.x > 0)
            counter.fetch_add(1, cuda::memory_order_release);
        else
            while (counter.load(cuda::memory_order_acquire) != gridDim.x) // <-- deadlock
                ;
    }
    __syncthreads();
    out[blockIdx.x] = 1;
}
CASE(one_too_many_awaited)
{
    one_too_many_awaited<<<4, 32>>>(zeros<unsigned>(1), fresh<int>(4));
}

// case barrier_object_for_too_many: deadlock
__global__ void barrier_object_for_too_many(const int *in, int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, blockDim.x + 1);
    __syncthreads();
    bar.arrive_and_wait(); // <-- deadlock
    out[t] = in[t];
}
CASE(barrier_object_for_too_many)
{
    barrier_object_for_too_many<<<1, 64>>>(input(64), fresh<int>(64));
}

// The last block waits, at a barrier, for a thread that polls for ever.
// case last_block_never_told: deadlock
__global__ void last_block_never_told(unsigned *done, volatile int *ready, int *out)
{
    if (threadIdx.x == 0) {
        if (atomicAdd(done, 1) == gridDim.x) // never: it counts to gridDim.x - 1
            *ready = 1;
        while (*ready == 0) // <-- deadlock
            __nanosleep(50);
    }
    __syncthreads();
    out[blockIdx.x] = 1;
}
CASE(last_block_never_told)
{
    last_block_never_told<<<8, 64>>>(zeros<unsigned>(1), zeros<int>(1), fresh<int>(8));
}

// It counts its polls, so no two states are the same.
// case polls_are_counted: deadlock
__global__ void polls_are_counted(volatile int *flag, unsigned long long *out)
{
    unsigned long long polls = 0;
    while (*flag == 0) // <-- deadlock
        ++polls;
    *out = polls;
}
CASE(polls_are_counted)
{
    polls_are_counted<<<1, 1>>>(zeros<int>(1), fresh<unsigned long long>(1));
}

// case search_without_end: deadlock
__global__ void search_without_end(const int *offsets, int *out, int n)
{
    int low = 0, high = n, key = threadIdx.x;
    while (low < high) {
        int middle = (low + high) / 2;
        if (offsets[middle] <= key) // <-- deadlock
            low = middle; // stays at high - 1
        else
            high = middle;
    }
    out[threadIdx.x] = low;
}
CASE(search_without_end)
{
    search_without_end<<<1, 32>>>(made<int>(33, [](size_t i) { return i; }), fresh<int>(32), 33);
}

// Past zero it goes on at 2^32 - 1. It writes, so it is no deadlock, only endless.
// case unsigned_counts_down: step_limit
__global__ void unsigned_counts_down(int *out, unsigned n)
{
    for (unsigned i = n - 1; i < n + 64 || i > n; --i)
        out[i & 63] = i; // <-- step_limit
}
CASE(unsigned_counts_down)
{
    unsigned_counts_down<<<1, 1>>>(fresh<int>(64), 64);
}
