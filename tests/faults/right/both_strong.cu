// The look-alikes of wrong/both_strong.cu: the fence stands where it belongs, the flag releases, or
// nobody relies on an order of the two.
#include "../faults.cuh"

#include <cuda/atomic>

__device__ int wait_for(const int *flag)
{
    int seen;
    while ((seen = *static_cast<const volatile int *>(flag)) == 0)
        ;
    __threadfence();
    return seen;
}

// case exchanged_with_fence: clean
__global__ void exchanged_with_fence(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        wait_for(&flags[b - 1]);
        before = b % 2 ? static_cast<volatile int *>(sums)[b - 1] : atomicAdd(&sums[b - 1], 0);
    }
    atomicExch(&sums[b], before + in[b]);
    __threadfence();
    atomicExch(&flags[b], 1);
    out[b] = before;
}
CASE(exchanged_with_fence)
{
    int *out = fresh<int>(20);
    exchanged_with_fence<<<20, 1>>>(input(20), out, zeros<int>(20), zeros<int>(20), zeros<int>(1));
    expect(out, 20, input_sum);
}

// case flag_that_releases: clean
__global__ void flag_that_releases(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    using word = cuda::atomic_ref<int, cuda::thread_scope_device>;
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (word(flags[b - 1]).load(cuda::memory_order_acquire) == 0)
            ;
        before = word(sums[b - 1]).load(cuda::memory_order_relaxed);
    }
    word(sums[b]).fetch_add(before + in[b], cuda::memory_order_relaxed);
    word(flags[b]).store(1, cuda::memory_order_release);
    out[b] = before;
}
CASE(flag_that_releases)
{
    int *out = fresh<int>(20);
    flag_that_releases<<<20, 1>>>(input(20), out, zeros<int>(20), zeros<int>(20), zeros<int>(1));
    expect(out, 20, input_sum);
}

// One thread of the block fences for all, after the barrier.
// case one_fences_for_all: clean
__global__ void one_fences_for_all(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    __shared__ int tile;
    int t = threadIdx.x, before = 0;
    if (t == 0)
        tile = atomicAdd(ticket, 1);
    __syncthreads();
    int b = tile;
    if (b > 0) {
        if (t == 0)
            wait_for(&flags[b - 1]);
        __syncthreads();
        before = static_cast<volatile int *>(sums)[(b - 1) * 64 + t];
    }
    atomicExch(&sums[b * 64 + t], before + in[b * 64 + t]);
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicExch(&flags[b], 1);
    }
    out[b * 64 + t] = before;
}
CASE(one_fences_for_all)
{
    int *out = fresh<int>(768);
    one_fences_for_all<<<12, 64>>>(made<int>(768, [](size_t i) { return i % 64; }), out,
                                   zeros<int>(768), zeros<int>(12), zeros<int>(1));
    expect(out, 768, [](size_t i) { return i / 64 * (i % 64); });
}

// Value and flag in one word, by exchange and by compare-and-swap.
// case packed_by_atomics: clean
__global__ void packed_by_atomics(const int *in, int *out, unsigned long long *states, int *ticket)
{
    int b = atomicAdd(ticket, 1);
    unsigned before = 0;
    for (int k = b - 1; k >= 0; --k) {
        unsigned long long state;
        while ((state = atomicAdd(&states[k], 0ull)) >> 32 == 0)
            ;
        before += static_cast<unsigned>(state);
    }
    unsigned long long mine = 1ull << 32 | static_cast<unsigned>(in[b]);
    if (b % 2)
        atomicExch(&states[b], mine);
    else
        atomicCAS(&states[b], 0ull, mine);
    out[b] = before;
}
CASE(packed_by_atomics)
{
    int *out = fresh<int>(20);
    packed_by_atomics<<<20, 1>>>(input(20), out, zeros<unsigned long long>(20), zeros<int>(1));
    expect(out, 20, input_sum);
}

// case last_block_with_fence: clean
__global__ void last_block_with_fence(const int *in, int *sum, unsigned *done, int *out)
{
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        atomicAdd(sum, in[b]);
        __threadfence();
        if (atomicAdd(done, 1) == gridDim.x - 1) {
            __threadfence();
            *out = atomicAdd(sum, 0);
        }
    }
}
CASE(last_block_with_fence)
{
    int *out = fresh<int>(1);
    last_block_with_fence<<<12, 32>>>(input(12), zeros<int>(1), zeros<unsigned>(1), out);
    expect(out, 1, [](size_t) { return input_sum(12); });
}

// A histogram by relaxed atomics, read by the next kernel.
__global__ void count(const int *in, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        cuda::atomic_ref<int, cuda::thread_scope_device>(counts[in[i]])
            .fetch_add(1, cuda::memory_order_relaxed);
}
// case histogram_then_a_kernel: clean
__global__ void histogram_then_a_kernel(const int *counts, int *out)
{
    out[threadIdx.x] = static_cast<const volatile int *>(counts)[threadIdx.x];
}
CASE(histogram_then_a_kernel)
{
    int *counts = zeros<int>(4), *out = fresh<int>(4);
    count<<<5, 64>>>(input(300), counts, 300);
    histogram_then_a_kernel<<<1, 4>>>(counts, out);
    expect(out, 4, [](size_t i) { return i ? 100 : 0; });
}

// Who has found how much so far: read in the middle of a look-back that does not depend on it.
// case statistics_on_the_way: clean
__global__ void statistics_on_the_way(const int *in, int *out, unsigned long long *states,
                                      int *ticket, int *twos, int *seen)
{
    int b = atomicAdd(ticket, 1);
    unsigned before = 0;
    atomicAdd(twos, in[b] == 2);
    for (int k = b - 1; k >= 0; --k) {
        unsigned long long state;
        while ((state = static_cast<volatile unsigned long long *>(states)[k]) >> 32 == 0)
            ;
        before += static_cast<unsigned>(state);
    }
    seen[b] = *static_cast<volatile int *>(twos) >= 0;
    static_cast<volatile unsigned long long *>(states)[b] =
        1ull << 32 | static_cast<unsigned>(in[b]);
    out[b] = before;
}
CASE(statistics_on_the_way)
{
    int *out = fresh<int>(40);
    statistics_on_the_way<<<40, 1>>>(input(40), out, zeros<unsigned long long>(40), zeros<int>(1),
                                     zeros<int>(1), fresh<int>(40));
    expect(out, 40, input_sum);
}

// Work is drawn until the best answer so far cannot be beaten: an old answer only costs time.
// case best_so_far: clean
__global__ void best_so_far(const int *in, int *next, int *best, int n)
{
    for (int k = atomicAdd(next, 1); k < n; k = atomicAdd(next, 1))
        if (in[k] > *static_cast<volatile int *>(best))
            atomicMax(best, in[k]);
}
CASE(best_so_far)
{
    int *best = zeros<int>(1);
    best_so_far<<<6, 32>>>(made<int>(600, [](size_t i) { return i * 7 % 601; }), zeros<int>(1),
                           best, 600);
    expect(best, 1, [](size_t) { return 600; });
}

// Is there any work left? The counter is looked at before a number is drawn.
// case looks_before_it_draws: clean
__global__ void looks_before_it_draws(const int *in, int *out, unsigned long long *states,
                                      int *ticket, int n)
{
    while (*static_cast<volatile int *>(ticket) < n) {
        int b = atomicAdd(ticket, 1);
        if (b >= n)
            break;
        unsigned before = 0;
        if (b > 0) {
            unsigned long long state;
            while ((state = static_cast<volatile unsigned long long *>(states)[b - 1]) >> 32 == 0)
                ;
            before = static_cast<unsigned>(state);
        }
        static_cast<volatile unsigned long long *>(states)[b] = 1ull << 32 | (before + in[b]);
        out[b] = before;
    }
}
CASE(looks_before_it_draws)
{
    int *out = fresh<int>(50);
    looks_before_it_draws<<<4, 1>>>(input(50), out, zeros<unsigned long long>(50), zeros<int>(1),
                                    50);
    expect(out, 50, input_sum);
}

// The answer of the first atomic goes into the second: it has happened by then.
// case slots_drawn_before_the_flag: clean
__global__ void slots_drawn_before_the_flag(int *next, int *flags, int *ticket, int *out)
{
    int b = atomicAdd(ticket, 1);
    if (b > 0) {
        wait_for(&flags[b - 1]);
        out[b] = *static_cast<volatile int *>(next);
    }
    int slot = atomicAdd(next, 2);
    atomicExch(&flags[b], slot + 1);
}
CASE(slots_drawn_before_the_flag)
{
    int *out = zeros<int>(12);
    slots_drawn_before_the_flag<<<12, 1>>>(zeros<int>(1), zeros<int>(12), zeros<int>(1), out);
    expect(out, 12, [](size_t i) { return 2 * i; });
}

// Two flags in one loop, each with its value in the same word.
// case either_of_two_words: clean
__global__ void either_of_two_words(const int *in, int *out, unsigned long long *own,
                                    unsigned long long *sums, int *ticket)
{
    int b = atomicAdd(ticket, 1);
    unsigned before = 0;
    atomicExch(&own[b], 1ull << 32 | static_cast<unsigned>(in[b]));
    for (int k = b - 1; k >= 0; --k) {
        unsigned long long all, one;
        do {
            all = static_cast<volatile unsigned long long *>(sums)[k];
            one = static_cast<volatile unsigned long long *>(own)[k];
        } while (all >> 32 == 0 && one >> 32 == 0);
        before += static_cast<unsigned>(all >> 32 ? all : one);
        if (all >> 32)
            break;
    }
    atomicExch(&sums[b], 1ull << 32 | (before + in[b]));
    out[b] = before;
}
CASE(either_of_two_words)
{
    int *out = fresh<int>(40);
    either_of_two_words<<<40, 1>>>(input(40), out, zeros<unsigned long long>(40),
                                   zeros<unsigned long long>(40), zeros<int>(1));
    expect(out, 40, input_sum);
}

// A barrier of the grid with a leader and fences on both sides.
// case grid_barrier_with_leader_and_fences: clean
__global__ void grid_barrier_with_leader_and_fences(const int *in, int *parts, int *arrived,
                                                    int *go, int *out)
{
    int b = blockIdx.x, next = (b + 1) % gridDim.x;
    atomicExch(&parts[b], in[b]);
    __threadfence();
    if (atomicAdd(arrived, 1) == gridDim.x - 1) {
        __threadfence();
        atomicExch(go, 1);
    }
    wait_for(go);
    out[b] = static_cast<volatile int *>(parts)[next];
}
CASE(grid_barrier_with_leader_and_fences)
{
    const int *in = input(8);
    int *parts = zeros<int>(8), *arrived = zeros<int>(1), *go = zeros<int>(1), *out = fresh<int>(8);
    void *arguments[] = {&in, &parts, &arrived, &go, &out};
    cudaLaunchCooperativeKernel(grid_barrier_with_leader_and_fences, dim3(8), dim3(1), arguments, 0,
                                nullptr);
    expect(out, 8, [](size_t i) { return (i + 1) % 8 % 3 + 1; });
}

// case shared_exchanged_with_fence: clean
__global__ void shared_exchanged_with_fence(const int *in, int *out)
{
    __shared__ int flag, data;
    int t = threadIdx.x;
    if (t == 0)
        flag = data = 0;
    __syncthreads();
    if (t == 0) {
        atomicExch(&data, in[2]);
        __threadfence_block();
        atomicExch(&flag, 1);
    }
    if (t == 32) {
        while (*static_cast<volatile int *>(&flag) == 0)
            ;
        __threadfence_block();
        *out = *static_cast<volatile int *>(&data);
    }
}
CASE(shared_exchanged_with_fence)
{
    int *out = fresh<int>(1);
    shared_exchanged_with_fence<<<1, 64>>>(input(3), out);
    expect(out, 1, [](size_t) { return 3; });
}

// case shared_sums_behind_a_barrier: clean
__global__ void shared_sums_behind_a_barrier(const int *in, int *out)
{
    __shared__ int sum, done;
    int t = threadIdx.x;
    if (t == 0)
        sum = done = 0;
    __syncthreads();
    atomicAdd(&sum, in[t]);
    atomicAdd(&done, 1);
    __syncthreads();
    out[t] = atomicAdd(&done, 0) == 128 ? *static_cast<volatile int *>(&sum) : -1;
}
CASE(shared_sums_behind_a_barrier)
{
    int *out = fresh<int>(128);
    shared_sums_behind_a_barrier<<<1, 128>>>(input(128), out);
    expect(out, 128, [](size_t) { return input_sum(128); });
}
