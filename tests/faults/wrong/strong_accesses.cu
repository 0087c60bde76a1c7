// Volatile accesses and atomics that are each right and do not fit each other: different sizes of
// the same bytes, data read strongly but too early, locks that are taken or given up without order.
#include "../faults.cuh"

#include <cuda/atomic>

// ---- sizes ----

// Value and flag in one word of 8 bytes, which is read whole and written in halves.
// case pair_in_two_stores: data_race
// says: different sizes
__global__ void pair_in_two_stores(const int *in, int *out, int2 *pairs, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        unsigned long long both;
        do
            both = reinterpret_cast<volatile unsigned long long *>(pairs)[b - 1];
        while (both >> 32 == 0);
        before = static_cast<int>(both);
    }
    volatile int *mine = reinterpret_cast<int *>(pairs + b);
    mine[0] = before + in[b]; // <-- data_race
    mine[1] = 1;              // <-- data_race
    out[b] = before;
}
CASE(pair_in_two_stores)
{
    pair_in_two_stores<<<20, 1>>>(input(20), fresh<int>(20), zeros<int2>(20), zeros<int>(1));
}

// A fence between the halves does not make one access of them.
// case pair_in_two_stores_with_fence: data_race
// says: different sizes
__global__ void pair_in_two_stores_with_fence(const int *in, int *out, int2 *pairs, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        unsigned long long both;
        do
            both = atomicAdd(reinterpret_cast<unsigned long long *>(pairs + b - 1), 0ull);
        while (both >> 32 == 0);
        before = static_cast<int>(both);
    }
    int *mine = reinterpret_cast<int *>(pairs + b);
    atomicExch(mine, before + in[b]); // <-- data_race
    __threadfence();
    atomicExch(mine + 1, 1); // <-- data_race
    out[b] = before;
}
CASE(pair_in_two_stores_with_fence)
{
    pair_in_two_stores_with_fence<<<20, 1>>>(input(20), fresh<int>(20), zeros<int2>(20),
                                             zeros<int>(1));
}

// The other way round: written whole, read in halves, value first.
// case pair_in_two_loads: data_race
// says: different sizes
__global__ void pair_in_two_loads(const int *in, int *out, int2 *pairs, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        volatile int *last = reinterpret_cast<int *>(pairs + b - 1);
        do
            before = last[0];
        while (last[1] == 0);
    }
    unsigned long long both = 1ull << 32 | static_cast<unsigned>(before + in[b]);
    reinterpret_cast<volatile unsigned long long *>(pairs)[b] = both; // <-- data_race
    out[b] = before;
}
CASE(pair_in_two_loads)
{
    pair_in_two_loads<<<20, 1>>>(input(20), fresh<int>(20), zeros<int2>(20), zeros<int>(1));
}

// Four flags of a byte, waited for as one word of shared memory.
// case bytes_and_word_in_shared_memory: data_race
// says: different sizes
__global__ void bytes_and_word_in_shared_memory(int *out)
{
    __shared__ unsigned ready;
    int t = threadIdx.x;
    if (t == 0)
        ready = 0;
    __syncthreads();
    if (t % 32 == 0 && t < 128)
        reinterpret_cast<volatile unsigned char *>(&ready)[t / 32] = 1; // <-- data_race
    if (t == 128) {
        while (*static_cast<volatile unsigned *>(&ready) != 0x01010101u)
            ;
        *out = 1;
    }
}
CASE(bytes_and_word_in_shared_memory)
{
    bytes_and_word_in_shared_memory<<<1, 160>>>(fresh<int>(1));
}

// Atomics of both sizes: each keeps out its own kind only.
// case atomics_of_two_sizes: data_race
// says: different sizes
__global__ void atomics_of_two_sizes(unsigned long long *sum)
{
    if (blockIdx.x % 2)
        atomicAdd(sum, 1ull << 32 | 1u); // <-- data_race
    else
        atomicAdd(reinterpret_cast<unsigned *>(sum), 1u); // <-- data_race
}
CASE(atomics_of_two_sizes)
{
    atomics_of_two_sizes<<<20, 1>>>(zeros<unsigned long long>(1));
}

// ---- readers ----

// case volatile_reader_without_fence: missing_fence
// a warning
__global__ void volatile_reader_without_fence(const int *in, int *out, volatile int *sums,
                                              volatile int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (flags[b - 1] == 0)
            ;
        before = sums[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b];
    __threadfence();
    flags[b] = 1;
    out[b] = before;
}
CASE(volatile_reader_without_fence)
{
    volatile_reader_without_fence<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20),
                                             zeros<int>(20), zeros<int>(1));
}

// The data are written plainly and read strongly.
// case volatile_reader_of_plain_data: missing_fence
// a warning
__global__ void volatile_reader_of_plain_data(const int *in, int *out, int *sums, int *flags,
                                              int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (atomicAdd(&flags[b - 1], 0) == 0)
            ;
        before = static_cast<volatile int *>(sums)[b - 1]; // <-- missing_fence
    }
    sums[b] = before + in[b];
    __threadfence();
    atomicExch(&flags[b], 1);
    out[b] = before;
}
CASE(volatile_reader_of_plain_data)
{
    volatile_reader_of_plain_data<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20),
                                             zeros<int>(20), zeros<int>(1));
}

// case relaxed_reader_without_fence: missing_fence
// a warning
__global__ void relaxed_reader_without_fence(const int *in, int *out, int *sums, int *flags,
                                             int *ticket)
{
    using word = cuda::atomic_ref<int, cuda::thread_scope_device>;
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (word(flags[b - 1]).load(cuda::memory_order_relaxed) == 0)
            ;
        before = word(sums[b - 1]).load(cuda::memory_order_relaxed); // <-- missing_fence
    }
    word(sums[b]).store(before + in[b], cuda::memory_order_relaxed);
    word(flags[b]).store(1, cuda::memory_order_release);
    out[b] = before;
}
CASE(relaxed_reader_without_fence)
{
    relaxed_reader_without_fence<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20),
                                            zeros<int>(20), zeros<int>(1));
}

// case shared_volatile_reader_without_fence: missing_fence
// a warning
__global__ void shared_volatile_reader_without_fence(const int *in, int *out)
{
    __shared__ volatile int flag, data;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 0) {
        data = in[0];
        __threadfence_block();
        flag = 1;
    }
    if (t == 32) {
        while (flag == 0)
            ;
        *out = data; // <-- missing_fence
    }
}
CASE(shared_volatile_reader_without_fence)
{
    shared_volatile_reader_without_fence<<<1, 64>>>(input(1), fresh<int>(1));
}

// Two stores in the wrong order, as volatile ones of one thread may come to others.
// case two_volatile_stores: missing_fence
__global__ void two_volatile_stores(const int *in, int *out, volatile int *sums,
                                    volatile int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (flags[b - 1] == 0)
            ;
        __threadfence();
        before = sums[b - 1];
    }
    sums[b] = before + in[b];
    flags[b] = 1; // <-- missing_fence
    out[b] = before;
}
CASE(two_volatile_stores)
{
    two_volatile_stores<<<20, 1>>>(input(20), fresh<int>(20), fresh<int>(20), zeros<int>(20),
                                   zeros<int>(1));
}

// A late store to shared memory: the flag overtakes the data.
// case two_volatile_stores_to_shared_memory: missing_fence
__global__ void two_volatile_stores_to_shared_memory(const int *in, int *out)
{
    __shared__ volatile int flag, data;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 0) {
        data = in[0];
        flag = 1; // <-- missing_fence
    }
    if (t == 32) {
        while (flag == 0)
            ;
        __threadfence_block();
        *out = data;
    }
}
CASE(two_volatile_stores_to_shared_memory)
{
    two_volatile_stores_to_shared_memory<<<1, 64>>>(input(1), fresh<int>(1));
}

// ---- locks ----

// case lock_taken_without_fence: missing_fence
// a warning
__global__ void lock_taken_without_fence(int *lock, int *sum)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *sum = *sum + 1; // <-- missing_fence
    __threadfence();
    atomicExch(lock, 0);
}
CASE(lock_taken_without_fence)
{
    lock_taken_without_fence<<<16, 1>>>(zeros<int>(1), zeros<int>(1));
}

// case volatile_data_behind_a_lock: missing_fence
// a warning
__global__ void volatile_data_behind_a_lock(int *lock, volatile int *sum)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    int old = *sum; // <-- missing_fence
    *sum = old + 1; // <-- missing_fence
    __threadfence();
    atomicExch(lock, 0);
}
CASE(volatile_data_behind_a_lock)
{
    volatile_data_behind_a_lock<<<16, 1>>>(zeros<int>(1), zeros<int>(1));
}

// case relaxed_lock: missing_fence
// a warning
__global__ void relaxed_lock(int *lock, int *sum)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> word(*lock);
    while (word.exchange(1, cuda::memory_order_relaxed) != 0)
        ;
    *sum = *sum + 1; // <-- missing_fence
    word.store(0, cuda::memory_order_release);
}
CASE(relaxed_lock)
{
    relaxed_lock<<<16, 1>>>(zeros<int>(1), zeros<int>(1));
}

// What is missing is missing where the lock is given up, not where the next one takes it.
// case lock_given_up_without_fence: missing_fence
__global__ void lock_given_up_without_fence(int *lock, int *sum)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *sum = *sum + 1;
    atomicExch(lock, 0); // <-- missing_fence
}
CASE(lock_given_up_without_fence)
{
    lock_given_up_without_fence<<<16, 1>>>(zeros<int>(1), zeros<int>(1));
}

// Taken and given up several times by each, lane by lane.
// case lock_given_up_again_and_again: missing_fence
// also: data_race
__global__ void lock_given_up_again_and_again(int *lock, int *sum)
{
    for (int k = 0; k < 3; ++k)
        for (bool done = false; !done;)
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                sum[k] = sum[k] + 1;
                atomicExch(lock, 0); // <-- missing_fence
                done = true;
            }
}
CASE(lock_given_up_again_and_again)
{
    lock_given_up_again_and_again<<<8, 64>>>(zeros<int>(1), zeros<int>(3));
}

// The whole block works under the lock of its first thread.
// case lock_of_blocks_given_up_without_fence: missing_fence
__global__ void lock_of_blocks_given_up_without_fence(int *lock, int *sums)
{
    for (int k = 0; k < 2; ++k) {
        if (threadIdx.x == 0) {
            while (atomicCAS(lock, 0, 1) != 0)
                ;
            __threadfence();
        }
        __syncthreads();
        sums[threadIdx.x] += k;
        __syncthreads();
        if (threadIdx.x == 0)
            atomicExch(lock, 0); // <-- missing_fence
    }
}
CASE(lock_of_blocks_given_up_without_fence)
{
    lock_of_blocks_given_up_without_fence<<<8, 64>>>(zeros<int>(1), zeros<int>(64));
}

// ---- flags that are none ----

// The compiler reads a plain flag once, before the loop.
// case plain_flag_is_read_once: data_race
// also: deadlock
// says: (moved by the compiler)
__global__ void plain_flag_is_read_once(int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *flag = 1; // <-- data_race
    } else {
        while (*flag == 0)
            ;
        *out = 1;
    }
}
CASE(plain_flag_is_read_once)
{
    plain_flag_is_read_once<<<2, 1>>>(zeros<int>(1), zeros<int>(1));
}
