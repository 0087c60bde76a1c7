// Data that is handed from one thread to another without the fence that makes it arrive.
#include "../faults.cuh"

#include <cuda/atomic>

// Chained scan: value and flag in different words.
// case look_back_without_fences: missing_fence
__global__ void look_back_without_fences(const int *in, int *out, int *sums, int *flags,
                                         int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (static_cast<volatile int *>(flags)[b - 1] == 0)
            ;
        before = sums[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b];                     // <-- missing_fence
    static_cast<volatile int *>(flags)[b] = 1; // <-- missing_fence
    out[b] = before;
}
CASE(look_back_without_fences)
{
    look_back_without_fences<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                                        zeros<int>(1));
}

// case writer_without_fence: missing_fence
__global__ void writer_without_fence(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (atomicAdd(&flags[b - 1], 0) == 0)
            ;
        __threadfence();
        before = sums[b - 1];
    }
    sums[b] = before + in[b];  // <-- missing_fence
    atomicExch(&flags[b], 1); // <-- missing_fence
    out[b] = before;
}
CASE(writer_without_fence)
{
    writer_without_fence<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                                    zeros<int>(1));
}

// What most textbooks write, and what GPUs let pass: a warning.
// case reader_without_fence: missing_fence
// a warning
__global__ void reader_without_fence(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (atomicAdd(&flags[b - 1], 0) == 0)
            ;
        before = sums[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b]; // <-- missing_fence
    __threadfence();
    atomicExch(&flags[b], 1);
    out[b] = before;
}
CASE(reader_without_fence)
{
    reader_without_fence<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                                    zeros<int>(1));
}

// case fence_before_the_data: missing_fence
__global__ void fence_before_the_data(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (static_cast<volatile int *>(flags)[b - 1] == 0)
            ;
        __threadfence();
        before = sums[b - 1];
    }
    __threadfence();
    sums[b] = before + in[b];                     // <-- missing_fence
    static_cast<volatile int *>(flags)[b] = 1; // <-- missing_fence
    out[b] = before;
}
CASE(fence_before_the_data)
{
    fence_before_the_data<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                                     zeros<int>(1));
}

// A fence for the block does not reach other blocks.
// case fence_of_the_block: missing_fence
__global__ void fence_of_the_block(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (static_cast<volatile int *>(flags)[b - 1] == 0)
            ;
        __threadfence_block();
        before = sums[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b]; // <-- missing_fence
    __threadfence_block();
    static_cast<volatile int *>(flags)[b] = 1; // <-- missing_fence
    out[b] = before;
}
CASE(fence_of_the_block)
{
    fence_of_the_block<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                                  zeros<int>(1));
}

// Thread 1 writes, thread 0 has the fence, no barrier between.
// case fence_of_another_thread: data_race
// also: missing_fence
__global__ void fence_of_another_thread(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    __shared__ int tile;
    if (threadIdx.x == 0)
        tile = atomicAdd(ticket, 1);
    __syncthreads();
    int b = tile;
    if (threadIdx.x == 32)
        sums[b] = in[b]; // <-- data_race
    if (threadIdx.x == 0) {
        __threadfence();
        static_cast<volatile int *>(flags)[b] = 1;
        int before = 0;
        if (b > 0) {
            while (static_cast<volatile int *>(flags)[b - 1] == 0)
                ;
            __threadfence();
            before = sums[b - 1];
        }
        out[b] = before;
    }
}
CASE(fence_of_another_thread)
{
    fence_of_another_thread<<<20, 64>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20),
                                        zeros<int>(1));
}

// The last block adds up what the others left.
// case last_block_without_fence: missing_fence
__global__ void last_block_without_fence(const int *in, int *sums, unsigned *done, int *out)
{
    __shared__ bool last;
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        sums[b] = in[b];                                    // <-- missing_fence
        last = atomicAdd(done, 1) == gridDim.x - 1; // <-- missing_fence
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < gridDim.x; ++k)
            sum += sums[k]; // <-- missing_fence
        *out = sum;
    }
}
CASE(last_block_without_fence)
{
    last_block_without_fence<<<12, 32>>>(input(12), fresh<int>(12), zeros<unsigned>(1),
                                         fresh<int>(1));
}

// case last_block_with_block_fence: missing_fence
__global__ void last_block_with_block_fence(const int *in, int *sums, unsigned *done, int *out)
{
    __shared__ bool last;
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        sums[b] = in[b]; // <-- missing_fence
        __threadfence_block();
        last = atomicAdd(done, 1) == gridDim.x - 1; // <-- missing_fence
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < gridDim.x; ++k)
            sum += static_cast<volatile int *>(sums)[k]; // <-- missing_fence
        *out = sum;
    }
}
CASE(last_block_with_block_fence)
{
    last_block_with_block_fence<<<12, 32>>>(input(12), fresh<int>(12), zeros<unsigned>(1),
                                            fresh<int>(1));
}

// All threads write, one fences before the barrier that would have ordered them.
// case last_block_fence_before_barrier: data_race
// in some schedules
// also: missing_fence uninitialized_read
__global__ void last_block_fence_before_barrier(const int *in, int *parts, unsigned *done, int *out)
{
    __shared__ bool last;
    int t = threadIdx.x, n = gridDim.x * blockDim.x;
    parts[blockIdx.x * blockDim.x + t] = in[t]; // <-- data_race
    if (t == 0) {
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        int sum = 0;
        for (int k = t; k < n; k += blockDim.x)
            sum += parts[k];
        atomicAdd(out, sum);
    }
}
CASE(last_block_fence_before_barrier)
{
    last_block_fence_before_barrier<<<12, 64>>>(input(64), fresh<int>(768), zeros<unsigned>(1),
                                                zeros<int>(1));
}

// Release and acquire only among the threads of the block.
// case scope_of_the_block: missing_fence
// also: data_race
__global__ void scope_of_the_block(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        cuda::atomic_ref<int, cuda::thread_scope_block> flag(flags[b - 1]);
        while (flag.load(cuda::memory_order_acquire) == 0)
            ;
        before = sums[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b]; // <-- missing_fence
    cuda::atomic_ref<int, cuda::thread_scope_block>(flags[b]).store(1, cuda::memory_order_release); // <-- missing_fence
    out[b] = before;
}
CASE(scope_of_the_block)
{
    scope_of_the_block<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                                  zeros<int>(1));
}

// case relaxed_store: missing_fence
__global__ void relaxed_store(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[b - 1]);
        while (flag.load(cuda::memory_order_acquire) == 0)
            ;
        before = sums[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b]; // <-- missing_fence
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[b]);
    mine.store(1, cuda::memory_order_relaxed); // <-- missing_fence
    out[b] = before;
}
CASE(relaxed_store)
{
    relaxed_store<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                             zeros<int>(1));
}

// case relaxed_load: missing_fence
// a warning
__global__ void relaxed_load(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        int ready;
        do
            asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];"
                         : "=r"(ready)
                         : "l"(flags + b - 1)
                         : "memory");
        while (!ready);
        before = sums[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b]; // <-- missing_fence
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flags + b), "r"(1) : "memory");
    out[b] = before;
}
CASE(relaxed_load)
{
    relaxed_load<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                            zeros<int>(1));
}

// Flag by atomics, value by volatile accesses: two words, and nothing that orders them.
// case value_before_the_flag: missing_fence
__global__ void value_before_the_flag(const int *in, int *out, volatile int *sums, int *flags,
                                      int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (atomicAdd(&flags[b - 1], 0) == 0)
            ;
        before = sums[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b]; // <-- missing_fence
    atomicExch(&flags[b], 1); // <-- missing_fence
    out[b] = before;
}
CASE(value_before_the_flag)
{
    value_before_the_flag<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                                     zeros<int>(1));
}

// case lock_without_fences: missing_fence
// also: data_race
__global__ void lock_without_fences(int *lock, int *sum)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *sum = *sum + 1; // <-- missing_fence
    atomicExch(lock, 0); // <-- missing_fence
}
CASE(lock_without_fences)
{
    lock_without_fences<<<16, 1>>>(zeros<int>(1), zeros<int>(1));
}

// case unlocked_by_a_plain_store: data_race
// also: missing_fence
__global__ void unlocked_by_a_plain_store(int *lock, int *sum)
{
    while (atomicCAS(lock, 0, 1) != 0) // <-- data_race
        ;
    __threadfence();
    *sum = *sum + 1; // <-- data_race
    __threadfence();
    *lock = 0; // <-- data_race
}
CASE(unlocked_by_a_plain_store)
{
    unlocked_by_a_plain_store<<<16, 1>>>(zeros<int>(1), zeros<int>(1));
}

// ---- in shared memory ----

// case shared_flag_without_fences: missing_fence
// also: data_race
__global__ void shared_flag_without_fences(const int *in, int *out)
{
    __shared__ volatile int flag;
    __shared__ int data;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 0) {
        data = in[0]; // <-- missing_fence
        flag = 1;     // <-- missing_fence
    }
    if (t == 32) {
        while (flag == 0)
            ;
        *out = data; // <-- missing_fence
    }
}
CASE(shared_flag_without_fences)
{
    shared_flag_without_fences<<<1, 64>>>(input(1), fresh<int>(1));
}

// case shared_fence_before_the_data: missing_fence
// also: data_race
__global__ void shared_fence_before_the_data(const int *in, int *out)
{
    __shared__ volatile int flag;
    __shared__ int data;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 0) {
        __threadfence_block();
        data = in[0]; // <-- missing_fence
        flag = 1;     // <-- missing_fence
    }
    if (t == 32) {
        while (flag == 0)
            ;
        __threadfence_block();
        *out = data;
    }
}
CASE(shared_fence_before_the_data)
{
    shared_fence_before_the_data<<<1, 64>>>(input(1), fresh<int>(1));
}

// case shared_reader_without_fence: missing_fence
// a warning
// also: data_race
__global__ void shared_reader_without_fence(const int *in, int *out)
{
    __shared__ volatile int flag;
    __shared__ int data;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 0) {
        data = in[0]; // <-- missing_fence
        __threadfence_block();
        flag = 1;
    }
    if (t == 32) {
        while (flag == 0)
            ;
        *out = data; // <-- missing_fence
    }
}
CASE(shared_reader_without_fence)
{
    shared_reader_without_fence<<<1, 64>>>(input(1), fresh<int>(1));
}

// Eight warps, updates are lost.
// case volatile_counter: data_race
__global__ void volatile_counter(int *out)
{
    __shared__ volatile int counter;
    int t = threadIdx.x;
    if (t == 0)
        counter = 0;
    __syncthreads();
    if (t % 32 == 0)
        counter = counter + 1; // <-- data_race
    __syncthreads();
    out[t] = counter;
}
CASE(volatile_counter)
{
    volatile_counter<<<1, 256>>>(fresh<int>(256));
}

// A volatile result that nobody waits for.
// case volatile_result_without_barrier: data_race
__global__ void volatile_result_without_barrier(const int *in, int *out)
{
    __shared__ volatile int total;
    int t = threadIdx.x;
    if (t == 0)
        total = 0;
    __syncthreads();
    if (t == 127)
        total = in[t]; // <-- data_race
    out[t] = total;
}
CASE(volatile_result_without_barrier)
{
    volatile_result_without_barrier<<<1, 128>>>(input(128), fresh<int>(128));
}

// An atomic counter and a fence order nobody who does not read the counter.
// case fence_and_unrelated_atomic: data_race
// also: uninitialized_read missing_fence
__global__ void fence_and_unrelated_atomic(const int *in, int *out)
{
    __shared__ int data[128];
    __shared__ int counter;
    int t = threadIdx.x;
    if (t == 0)
        counter = 0;
    __syncthreads();
    data[t] = in[t]; // <-- data_race
    __threadfence_block();
    atomicAdd(&counter, 1);
    out[t] = data[t ^ 64];
}
CASE(fence_and_unrelated_atomic)
{
    fence_and_unrelated_atomic<<<1, 128>>>(input(128), fresh<int>(128));
}

// So many flags that a table of them overflows, then a plain race.
// case many_flags_and_a_race: data_race
// also: uninitialized_read missing_fence
__global__ void many_flags_and_a_race(const int *in, int *out)
{
    __shared__ int flags[2048];
    __shared__ int data[256];
    int t = threadIdx.x;
    for (int k = t; k < 2048; k += 256)
        flags[k] = 0;
    __syncthreads();
    __threadfence_block();
    for (int k = t; k < 2048; k += 256)
        atomicAdd(&flags[k], 1);
    __threadfence_block();
    data[t] = in[t]; // <-- data_race
    out[t] = data[t ^ 64];
}
CASE(many_flags_and_a_race)
{
    many_flags_and_a_race<<<1, 256>>>(input(256), fresh<int>(256));
}
