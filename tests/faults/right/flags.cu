// Threads that hand data to each other the right way: fences, release and acquire, locks, tickets.
#include "../faults.cuh"

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>

// case chained_scan_with_fences: clean
__global__ void chained_scan_with_fences(const int *in, int *out, int *sums, int *flags,
                                         int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (static_cast<volatile int *>(flags)[b - 1] == 0)
            ;
        __threadfence();
        before = sums[b - 1];
    }
    sums[b] = before + in[b];
    __threadfence();
    static_cast<volatile int *>(flags)[b] = 1;
    out[b] = before;
}
CASE(chained_scan_with_fences)
{
    int *out = fresh<int>(300);
    chained_scan_with_fences<<<300, 1>>>(input(300), out, fresh<int>(300), zeros<int>(300),
                                         zeros<int>(1));
    expect(out, 300, [](size_t i) { return input_sum(i); });
}

// The whole block writes and reads, one thread publishes: barriers on both sides.
// case chained_blocks: clean
__global__ void chained_blocks(const int *in, int *out, int *partials, int *flags, int *ticket)
{
    __shared__ int tile;
    int t = threadIdx.x;
    if (t == 0)
        tile = atomicAdd(ticket, 1);
    __syncthreads();
    int b = tile, before = 0;
    if (b > 0) {
        if (t == 0)
            while (atomicAdd(&flags[b - 1], 0) == 0)
                __nanosleep(20);
        __syncthreads();
        __threadfence();
        before = partials[(b - 1) * 64 + t];
    }
    partials[b * 64 + t] = before + in[b * 64 + t];
    __threadfence();
    __syncthreads();
    if (t == 0)
        atomicExch(&flags[b], 1);
    out[b * 64 + t] = before;
}
CASE(chained_blocks)
{
    int *out = fresh<int>(1280);
    chained_blocks<<<20, 64>>>(made<int>(1280, [](size_t i) { return i % 64; }), out,
                               fresh<int>(1280), zeros<int>(20), zeros<int>(1));
    expect(out, 1280, [](size_t i) { return i / 64 * (i % 64); });
}

// Value and flag in one word of 64 bits need no fence.
// case packed_look_back: clean
__global__ void packed_look_back(const int *in, int *out, volatile unsigned long long *states,
                                 int *ticket)
{
    int b = atomicAdd(ticket, 1);
    unsigned mine = in[b], before = 0;
    states[b] = (b ? 1ull : 2ull) << 32 | mine;
    for (int k = b - 1; k >= 0;) {
        unsigned long long state = states[k];
        if (state >> 32 == 0)
            continue;
        before += static_cast<unsigned>(state);
        if (state >> 32 == 2)
            break;
        --k;
    }
    states[b] = 2ull << 32 | (before + mine);
    out[b] = before;
}
CASE(packed_look_back)
{
    int *out = fresh<int>(200);
    packed_look_back<<<200, 1>>>(input(200), out, zeros<unsigned long long>(200), zeros<int>(1));
    expect(out, 200, [](size_t i) { return input_sum(i); });
}

// case release_and_acquire: clean
__global__ void release_and_acquire(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;
    int b = device_int(*ticket).fetch_add(1, cuda::memory_order_relaxed), before = 0;
    if (b > 0) {
        while (device_int(flags[b - 1]).load(cuda::memory_order_acquire) == 0)
            ;
        before = sums[b - 1];
    }
    sums[b] = before + in[b];
    device_int(flags[b]).store(1, cuda::memory_order_release);
    out[b] = before;
}
CASE(release_and_acquire)
{
    int *out = fresh<int>(200);
    release_and_acquire<<<200, 1>>>(input(200), out, fresh<int>(200), zeros<int>(200),
                                    zeros<int>(1));
    expect(out, 200, [](size_t i) { return input_sum(i); });
}

// case release_and_acquire_in_ptx: clean
__global__ void release_and_acquire_in_ptx(const int *in, int *out, int *sums, int *flags,
                                           int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        int ready;
        do
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
                         : "=r"(ready)
                         : "l"(flags + b - 1)
                         : "memory");
        while (!ready);
        before = sums[b - 1];
    }
    sums[b] = before + in[b];
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flags + b), "r"(1) : "memory");
    out[b] = before;
}
CASE(release_and_acquire_in_ptx)
{
    int *out = fresh<int>(200);
    release_and_acquire_in_ptx<<<200, 1>>>(input(200), out, fresh<int>(200), zeros<int>(200),
                                           zeros<int>(1));
    expect(out, 200, [](size_t i) { return input_sum(i); });
}

// Relaxed atomics with fences around them.
// case relaxed_with_fences: clean
__global__ void relaxed_with_fences(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (device_int(flags[b - 1]).load(cuda::memory_order_relaxed) == 0)
            ;
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        before = sums[b - 1];
    }
    sums[b] = before + in[b];
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    device_int(flags[b]).store(1, cuda::memory_order_relaxed);
    out[b] = before;
}
CASE(relaxed_with_fences)
{
    int *out = fresh<int>(200);
    relaxed_with_fences<<<200, 1>>>(input(200), out, fresh<int>(200), zeros<int>(200),
                                    zeros<int>(1));
    expect(out, 200, [](size_t i) { return input_sum(i); });
}

// case last_block_adds_up: clean
__global__ void last_block_adds_up(const int *in, int *sums, unsigned *done, int *out)
{
    __shared__ bool last;
    int b = blockIdx.x, t = threadIdx.x, v = in[b * 64 + t];
    for (int o = 16; o; o /= 2)
        v += __shfl_down_sync(FULL, v, o);
    if (t % 32 == 0)
        sums[2 * b + t / 32] = v;
    __threadfence();
    __syncthreads();
    if (t == 0)
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        int sum = 0;
        for (int k = t; k < 2 * gridDim.x; k += blockDim.x)
            sum += sums[k];
        atomicAdd(out, sum);
    }
}
CASE(last_block_adds_up)
{
    int *in = input(1280), *sums = fresh<int>(40), *out = zeros<int>(1);
    unsigned *done = zeros<unsigned>(1);
    last_block_adds_up<<<20, 64>>>(in, sums, done, out);
    last_block_adds_up<<<20, 64>>>(in, sums, done, out); // atomicInc has reset it
    expect(out, 1, [](size_t) { return 2 * input_sum(1280); });
}

// NVIDIA's threadFenceReduction: one thread writes, fences and counts.
// case last_block_one_writer: clean
__global__ void last_block_one_writer(const int *in, volatile int *sums, unsigned *done, int *out)
{
    __shared__ bool last;
    int b = blockIdx.x, t = threadIdx.x;
    int kept = __syncthreads_count(in[b * 64 + t] > 1);
    if (t == 0) {
        sums[b] = kept;
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int k = 0; k < gridDim.x; ++k)
            sum += sums[k];
        *out = sum;
        *done = 0;
    }
}
CASE(last_block_one_writer)
{
    int *in = input(768), *sums = fresh<int>(12), *out = fresh<int>(1);
    unsigned *done = zeros<unsigned>(1);
    for (int k = 0; k < 3; ++k)
        last_block_one_writer<<<12, 64>>>(in, sums, done, out);
    expect(out, 1, [](size_t) { return 512; });
}

// Atomics that count need no order among themselves.
// case counters: clean
__global__ void counters(const int *ids, int *counts, unsigned long long *total, float *sum, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&counts[ids[i]], 1);
        atomicAdd(total, 1ull);
        atomicAdd(sum, 1.0f);
        atomicMax(&counts[4], ids[i]);
    }
}
CASE(counters)
{
    int *counts = zeros<int>(5);
    unsigned long long *total = zeros<unsigned long long>(1);
    float *sum = zeros<float>(1);
    counters<<<5, 64>>>(input(999), counts, total, sum, 999);
    expect(counts, 5, [](size_t i) { return i == 0 ? 0 : i == 4 ? 3 : 333; });
    expect(total, 1, [](size_t) { return 999; });
    expect(sum, 1, [](size_t) { return 999.0f; });
}

// case spin_lock: clean
__global__ void spin_lock(int *lock, int *sum)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            __nanosleep(20);
        __threadfence();
        *sum = *sum + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
CASE(spin_lock)
{
    int *sum = zeros<int>(1);
    spin_lock<<<40, 32>>>(zeros<int>(1), sum);
    expect(sum, 1, [](size_t) { return 40; });
}

// case lock_of_a_block: clean
__global__ void lock_of_a_block(int *lock, int *sums)
{
    int t = threadIdx.x;
    if (t == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
    }
    __syncthreads();
    sums[t] += t;
    __threadfence();
    __syncthreads();
    if (t == 0)
        atomicExch(lock, 0);
}
CASE(lock_of_a_block)
{
    int *sums = zeros<int>(64);
    lock_of_a_block<<<12, 64>>>(zeros<int>(1), sums);
    expect(sums, 64, [](size_t i) { return 12 * i; });
}

// case ticket_lock: clean
__global__ void ticket_lock(unsigned *next, unsigned *serving, int *order)
{
    unsigned mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine)
        ;
    __threadfence();
    order[mine] = mine ? order[mine - 1] + 1 : 1;
    __threadfence();
    atomicAdd(serving, 1);
}
CASE(ticket_lock)
{
    int *order = fresh<int>(30);
    ticket_lock<<<30, 1>>>(zeros<unsigned>(1), zeros<unsigned>(1), order);
    expect(order, 30, [](size_t i) { return i + 1; });
}

// Warps of a block hand a carry on through volatile flags in shared memory.
// case hand_over_in_shared_memory: clean
__global__ void hand_over_in_shared_memory(const int *in, int *out)
{
    __shared__ volatile int carry[9], flag[9];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, v = in[t], before = 0;
    if (t < 9) {
        carry[t] = 0;
        flag[t] = t == 0;
    }
    __syncthreads();
    for (int o = 1; o < 32; o *= 2) {
        int x = __shfl_up_sync(FULL, v, o);
        if (lane >= o)
            v += x;
    }
    if (lane == 31) {
        while (flag[warp] == 0)
            __nanosleep(10);
        __threadfence_block();
        before = carry[warp];
        carry[warp + 1] = before + v;
        __threadfence_block();
        flag[warp + 1] = 1;
    }
    out[t] = v + __shfl_sync(FULL, before, 31);
}
CASE(hand_over_in_shared_memory)
{
    int *out = fresh<int>(256);
    hand_over_in_shared_memory<<<1, 256>>>(input(256), out);
    expect(out, 256, [](size_t i) { return input_sum(i + 1); });
}

// case shared_flag_with_fences: clean
__global__ void shared_flag_with_fences(const int *in, int *out)
{
    __shared__ volatile int flag;
    __shared__ int data;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 0) {
        data = in[2];
        __threadfence_block();
        flag = 1;
    }
    if (t == 32) {
        while (flag == 0)
            ;
        __threadfence_block();
        *out = data;
    }
}
CASE(shared_flag_with_fences)
{
    int *out = fresh<int>(1);
    shared_flag_with_fences<<<1, 64>>>(input(3), out);
    expect(out, 1, [](size_t) { return 3; });
}

// A block-scoped release is enough inside a block.
// case block_scope_in_a_block: clean
__global__ void block_scope_in_a_block(const int *in, int *out)
{
    __shared__ int data[32];
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    int t = threadIdx.x;
    if (t == 0)
        ready.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    if (t < 32) {
        data[t] = in[t];
        ready.fetch_add(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) != 32)
            ;
        out[t - 32] = data[63 - t];
    }
}
CASE(block_scope_in_a_block)
{
    int *out = fresh<int>(32);
    block_scope_in_a_block<<<1, 64>>>(input(32), out);
    expect(out, 32, [](size_t i) { return (31 - i) % 3 + 1; });
}

// case barrier_objects: clean
__global__ void barrier_objects(const int *in, int *out, int n)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier filled, emptied;
    __shared__ int buffer[32];
    int t = threadIdx.x;
    if (t == 0) {
        init(&filled, 64);
        init(&emptied, 64);
    }
    __syncthreads();
    for (int b = 0; b < n; b += 32) {
        if (t < 32) {
            buffer[t] = in[b + t];
            barrier::arrival_token token = filled.arrive();
            (void)token;
            emptied.arrive_and_wait();
        } else {
            filled.arrive_and_wait();
            out[b + t - 32] = buffer[63 - t];
            emptied.arrive_and_wait();
        }
    }
}
CASE(barrier_objects)
{
    int *out = fresh<int>(96);
    barrier_objects<<<1, 64>>>(made<int>(96, [](size_t i) { return i; }), out, 96);
    expect(out, 96, [](size_t i) { return i / 32 * 32 + 31 - i % 32; });
}

// All blocks meet twice.
// case grid_sync: clean
__global__ void grid_sync(const int *in, int *sums, int *out)
{
    auto grid = cooperative_groups::this_grid();
    int b = blockIdx.x, t = threadIdx.x, sum = 0;
    int kept = __syncthreads_count(in[b * 32 + t] > 1);
    if (t == 0)
        sums[b] = kept;
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int k = 1; k < gridDim.x; ++k)
            sums[k] += sums[k - 1];
    grid.sync();
    sum = sums[b];
    out[b * 32 + t] = sum;
}
CASE(grid_sync)
{
    const int *in = input(30 * 32);
    int *sums = fresh<int>(30), *out = fresh<int>(30 * 32);
    void *arguments[] = {&in, &sums, &out};
    cudaLaunchCooperativeKernel(grid_sync, dim3(30), dim3(32), arguments, 0, nullptr);
    expect(out, 30 * 32, [](size_t i) {
        int kept = 0;
        for (size_t k = 0; k < (i / 32 + 1) * 32; ++k)
            kept += k % 3 > 0;
        return kept;
    });
}

// A barrier of the grid by hand: legal as long as all blocks fit, as in a cooperative launch.
// case grid_barrier_by_hand: clean
__global__ void grid_barrier_by_hand(const int *in, unsigned *arrived, int *sums, int *out)
{
    int b = blockIdx.x, t = threadIdx.x;
    for (unsigned round = 1; round <= 3; ++round) {
        sums[(round * 8 + b) * 32 + t] = in[t] + round;
        __threadfence();
        __syncthreads();
        if (t == 0) {
            atomicAdd(arrived, 1);
            while (atomicAdd(arrived, 0) < round * gridDim.x)
                __nanosleep(20);
        }
        __syncthreads();
        __threadfence();
        out[(round * 8 + b) * 32 + t] = sums[(round * 8 + (b + 1) % 8) * 32 + 31 - t];
    }
}
CASE(grid_barrier_by_hand)
{
    const int *in = input(32);
    unsigned *arrived = zeros<unsigned>(1);
    int *sums = fresh<int>(1024), *out = fresh<int>(1024);
    void *arguments[] = {&in, &arrived, &sums, &out};
    cudaLaunchCooperativeKernel(grid_barrier_by_hand, dim3(8), dim3(32), arguments, 0, nullptr);
    expect(out + 256, 768, [](size_t i) { return (31 - i % 32) % 3 + 1 + i / 256 + 1; });
}

// Kernels in one stream are ordered; events order streams.
// case ordered_by_streams: clean
__global__ void doubles(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 2;
}
__global__ void ordered_by_streams(const int *data, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = data[n - 1 - i];
}
CASE(ordered_by_streams)
{
    int *data = input(100), *out = fresh<int>(100);
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    doubles<<<1, 128, 0, first>>>(data, 100);
    doubles<<<1, 128, 0, first>>>(data, 100);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    ordered_by_streams<<<1, 128, 0, second>>>(data, out, 100);
    cudaStreamSynchronize(second);
    expect(out, 100, [](size_t i) { return 4 * ((99 - i) % 3 + 1); });
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaEventDestroy(event);
}

// All blocks store the same value: a flag "something was found".
// case found_by_many_blocks: clean
__global__ void found_by_many_blocks(const int *in, int *found)
{
    if (in[blockIdx.x * blockDim.x + threadIdx.x] == 3)
        *found = 1;
}
CASE(found_by_many_blocks)
{
    int *found = zeros<int>(1);
    found_by_many_blocks<<<4, 64>>>(input(256), found);
    expect(found, 1, [](size_t) { return 1; });
}
