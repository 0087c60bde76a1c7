// Volatile accesses and atomics that fit each other: the look-alikes of wrong/strong_accesses.cu.
#include "../faults.cuh"

#include <cuda/atomic>

// case pair_in_one_store: clean
__global__ void pair_in_one_store(const int *in, int *out, unsigned long long *pairs, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        unsigned long long both;
        do
            both = static_cast<volatile unsigned long long *>(pairs)[b - 1];
        while (both >> 32 == 0);
        before = static_cast<int>(both);
    }
    unsigned long long mine = 1ull << 32 | static_cast<unsigned>(before + in[b]);
    if (b % 2)
        static_cast<volatile unsigned long long *>(pairs)[b] = mine;
    else
        atomicExch(&pairs[b], mine);
    out[b] = before;
}
CASE(pair_in_one_store)
{
    int *out = fresh<int>(20);
    pair_in_one_store<<<20, 1>>>(input(20), out, zeros<unsigned long long>(20), zeros<int>(1));
    expect(out, 20, input_sum);
}

// Written in halves and read whole, behind a flag and its fences.
// case halves_behind_a_flag: clean
__global__ void halves_behind_a_flag(const int *in, long long *out, volatile int *halves,
                                     volatile int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1);
    halves[2 * b] = in[b];
    halves[2 * b + 1] = 0;
    __threadfence();
    flags[b] = 1;
    if (b > 0) {
        while (flags[b - 1] == 0)
            ;
        __threadfence();
        out[b] = *reinterpret_cast<volatile long long *>(&halves[2 * (b - 1)]);
    }
}
CASE(halves_behind_a_flag)
{
    long long *out = zeros<long long>(20);
    halves_behind_a_flag<<<20, 1>>>(input(20), out, zeros<int>(40), zeros<int>(20), zeros<int>(1));
    expect(out, 20, [](size_t i) { return i ? (i - 1) % 3 + 1 : 0; });
}

// Both sizes, with a barrier between.
// case atomics_of_two_sizes_in_turns: clean
__global__ void atomics_of_two_sizes_in_turns(unsigned long long *out)
{
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0)
        atomicExch(&sum, 0ull);
    __syncthreads();
    atomicAdd(reinterpret_cast<unsigned *>(&sum) + 1, 1u);
    __syncthreads();
    atomicAdd(&sum, 1ull);
    __syncthreads();
    out[threadIdx.x] = sum;
}
CASE(atomics_of_two_sizes_in_turns)
{
    unsigned long long *out = fresh<unsigned long long>(128);
    atomics_of_two_sizes_in_turns<<<1, 128>>>(out);
    expect(out, 128, [](size_t) { return 128ull << 32 | 128; });
}

// libcu++ makes a compare-and-swap of the whole word of what is added to a byte.
// case atomic_bytes: clean
__global__ void atomic_bytes(unsigned char *counters, int *out)
{
    using byte = cuda::atomic_ref<unsigned char, cuda::thread_scope_device>;
    byte(counters[threadIdx.x % 4]).fetch_add(1);
    if (threadIdx.x == 0) {
        while (byte(counters[1]).load() < 32)
            ;
        *out = 1;
    }
}
CASE(atomic_bytes)
{
    int *out = fresh<int>(1);
    atomic_bytes<<<1, 128>>>(zeros<unsigned char>(4), out);
    expect(out, 1, [](size_t) { return 1; });
}

// case volatile_reader_with_fence: clean
__global__ void volatile_reader_with_fence(const int *in, int *out, volatile int *sums,
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
    __threadfence();
    flags[b] = 1;
    out[b] = before;
}
CASE(volatile_reader_with_fence)
{
    int *out = fresh<int>(20);
    volatile_reader_with_fence<<<20, 1>>>(input(20), out, fresh<int>(20), zeros<int>(20),
                                          zeros<int>(1));
    expect(out, 20, input_sum);
}

// Polled first in one word, then in another, as a look-back over several blocks does.
// case polls_one_word_after_the_other: clean
__global__ void polls_one_word_after_the_other(const int *in, int *out, volatile int *values,
                                               int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    __threadfence();
    values[b] = in[b];
    for (int k = b - 1; k >= 0; --k) {
        int value;
        while ((value = values[k]) == 0)
            ;
        before += value;
    }
    out[b] = before;
}
CASE(polls_one_word_after_the_other)
{
    int *out = fresh<int>(20);
    polls_one_word_after_the_other<<<20, 1>>>(input(20), out, zeros<int>(20), zeros<int>(1));
    expect(out, 20, input_sum);
}

// case lock_that_acquires: clean
__global__ void lock_that_acquires(int *lock, volatile int *sum)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> word(*lock);
    while (word.exchange(1, cuda::memory_order_acquire) != 0)
        ;
    *sum = *sum + 1;
    word.store(0, cuda::memory_order_release);
}
CASE(lock_that_acquires)
{
    int *sum = zeros<int>(1);
    lock_that_acquires<<<16, 1>>>(zeros<int>(1), sum);
    expect(sum, 1, [](size_t) { return 16; });
}

// ---- the same value by many ----

// Lanes and warps to shared memory, blocks to global memory; nobody reads before a barrier.
// case found_by_many_warps: clean
__global__ void found_by_many_warps(int *out)
{
    __shared__ bool found;
    __shared__ int last;
    if (threadIdx.x == 0)
        found = false;
    __syncthreads();
    if (threadIdx.x % 3 == 0) {
        found = true;
        last = 7;
    }
    __syncthreads();
    if (found)
        out[0] = last;
    out[1 + threadIdx.x / 64] = 5;
}
CASE(found_by_many_warps)
{
    int *out = zeros<int>(5);
    found_by_many_warps<<<8, 256>>>(out);
    expect(out, 5, [](size_t i) { return i ? 5 : 7; });
}
