// Value and flag are both volatile, relaxed or atomic, so that nothing is a data race, and nothing
// keeps the flag behind the value: the fence between them is missing, or reaches too few.
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

// case exchanged: missing_fence
__global__ void exchanged(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        wait_for(&flags[b - 1]);
        before = static_cast<volatile int *>(sums)[b - 1];
    }
    atomicExch(&sums[b], before + in[b]);
    atomicExch(&flags[b], 1); // <-- missing_fence
    out[b] = before;
}
CASE(exchanged)
{
    exchanged<<<20, 1>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20), zeros<int>(1));
}

// case exchanged_block_fence: missing_fence
// says: own block only
__global__ void exchanged_block_fence(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        wait_for(&flags[b - 1]);
        before = static_cast<volatile int *>(sums)[b - 1];
    }
    atomicExch(&sums[b], before + in[b]);
    __threadfence_block();
    atomicExch(&flags[b], 1); // <-- missing_fence
    out[b] = before;
}
CASE(exchanged_block_fence)
{
    exchanged_block_fence<<<20, 1>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20),
                                     zeros<int>(1));
}

// Lanes of one warp are in step afterwards, which is nothing to other blocks.
// case exchanged_syncwarp: missing_fence
__global__ void exchanged_syncwarp(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int lane = threadIdx.x, b = 0, before = 0;
    if (lane == 0)
        b = atomicAdd(ticket, 1);
    b = __shfl_sync(FULL, b, 0);
    if (lane == 0 && b > 0) {
        wait_for(&flags[b - 1]);
        before = static_cast<volatile int *>(sums)[b - 1];
    }
    if (lane == 0)
        atomicExch(&sums[b], before + in[b]);
    __syncwarp();
    if (lane == 1)
        atomicExch(&flags[b], 1); // <-- missing_fence
    if (lane == 0)
        out[b] = before;
}
CASE(exchanged_syncwarp)
{
    exchanged_syncwarp<<<20, 32>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20),
                                   zeros<int>(1));
}

// The sums were 0 before: to add is to store.
// case added: missing_fence
__global__ void added(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        wait_for(&flags[b - 1]);
        before = static_cast<volatile int *>(sums)[b - 1];
    }
    atomicAdd(&sums[b], before + in[b]);
    static_cast<volatile int *>(flags)[b] = 1; // <-- missing_fence
    out[b] = before;
}
CASE(added)
{
    added<<<20, 1>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20), zeros<int>(1));
}

// case swapped_in: missing_fence
__global__ void swapped_in(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        wait_for(&flags[b - 1]);
        before = atomicOr(&sums[b - 1], 0);
    }
    atomicCAS(&sums[b], 0, before + in[b]);
    atomicOr(&flags[b], 1); // <-- missing_fence
    out[b] = before;
}
CASE(swapped_in)
{
    swapped_in<<<20, 1>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20), zeros<int>(1));
}

// case relaxed_stores: missing_fence
__global__ void relaxed_stores(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    using word = cuda::atomic_ref<int, cuda::thread_scope_device>;
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        while (word(flags[b - 1]).load(cuda::memory_order_acquire) == 0)
            ;
        before = word(sums[b - 1]).load(cuda::memory_order_relaxed);
    }
    word(sums[b]).store(before + in[b], cuda::memory_order_relaxed);
    word mine(flags[b]);
    mine.store(1, cuda::memory_order_relaxed); // <-- missing_fence
    out[b] = before;
}
CASE(relaxed_stores)
{
    relaxed_stores<<<20, 1>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20),
                              zeros<int>(1));
}

// case reductions_in_ptx: missing_fence
__global__ void reductions_in_ptx(const int *in, int *out, int *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    if (b > 0) {
        wait_for(&flags[b - 1]);
        asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];"
                     : "=r"(before)
                     : "l"(sums + b - 1)
                     : "memory");
    }
    asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" ::"l"(sums + b), "r"(before + in[b])
                 : "memory");
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(flags + b) : "memory"); // <-- missing_fence
    out[b] = before;
}
CASE(reductions_in_ptx)
{
    reductions_in_ptx<<<20, 1>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20),
                                 zeros<int>(1));
}

// case wide_value: missing_fence
__global__ void wide_value(const int *in, unsigned long long *out, unsigned long long *sums,
                           int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1);
    unsigned long long before = 0;
    if (b > 0) {
        wait_for(&flags[b - 1]);
        before = static_cast<volatile unsigned long long *>(sums)[b - 1];
    }
    atomicExch(&sums[b], before + in[b]);
    atomicExch(&flags[b], 1); // <-- missing_fence
    out[b] = before;
}
CASE(wide_value)
{
    wide_value<<<20, 1>>>(input(20), fresh<unsigned long long>(20), zeros<unsigned long long>(20),
                          zeros<int>(20), zeros<int>(1));
}

// Four values by one store; the flag is a word of its own.
// case vector_of_values: missing_fence
__global__ void vector_of_values(const int *in, int *out, int4 *sums, int *flags, int *ticket)
{
    int b = atomicAdd(ticket, 1);
    int4 v = {0, 0, 0, 0};
    if (b > 0) {
        wait_for(&flags[b - 1]);
        asm volatile("ld.volatile.global.v4.s32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(sums + b - 1)
                     : "memory");
    }
    asm volatile("st.volatile.global.v4.s32 [%0], {%1,%2,%3,%4};" ::"l"(sums + b),
                 "r"(v.x + in[b]), "r"(v.y + 1), "r"(v.z + 2), "r"(v.w + 3)
                 : "memory");
    atomicExch(&flags[b], 1); // <-- missing_fence
    out[b] = v.x + v.w;
}
CASE(vector_of_values)
{
    vector_of_values<<<20, 1>>>(input(20), fresh<int>(20), zeros<int4>(20), zeros<int>(20),
                                zeros<int>(1));
}

// The value is read in the same loop as the flag that says whether it is there.
// case value_read_while_waiting: missing_fence
__global__ void value_read_while_waiting(const int *in, int *out, int *sums, int *flags,
                                         int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0, ready = b == 0;
    while (!ready) {
        ready = static_cast<volatile int *>(flags)[b - 1];
        __threadfence();
        before = static_cast<volatile int *>(sums)[b - 1];
    }
    atomicExch(&sums[b], before + in[b]);
    atomicExch(&flags[b], 1); // <-- missing_fence
    out[b] = before;
}
CASE(value_read_while_waiting)
{
    value_read_while_waiting<<<20, 1>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20),
                                        zeros<int>(1));
}

// Values of a look-back are read in a loop around the one that waits.
// case look_back_sums: missing_fence
// in some schedules
__global__ void look_back_sums(const int *in, int *out, int *own, int *sums, int *flags,
                               int *ticket)
{
    int b = atomicAdd(ticket, 1), before = 0;
    atomicExch(&own[b], in[b]);
    atomicExch(&flags[b], 1); // <-- missing_fence
    for (int k = b - 1; k >= 0; --k) {
        if (wait_for(&flags[k]) == 2) {
            before += static_cast<volatile int *>(sums)[k];
            break;
        }
        before += static_cast<volatile int *>(own)[k];
    }
    atomicExch(&sums[b], before + in[b]);
    __threadfence();
    atomicExch(&flags[b], 2);
    out[b] = before;
}
CASE(look_back_sums)
{
    look_back_sums<<<20, 1>>>(input(20), fresh<int>(20), zeros<int>(20), zeros<int>(20),
                              zeros<int>(20), zeros<int>(1));
}

// A barrier of the block is no fence for other blocks.
// case barrier_before_the_flag: missing_fence
__global__ void barrier_before_the_flag(const int *in, int *out, int *sums, int *flags, int *ticket)
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
    if (t == 0)
        atomicExch(&flags[b], 1); // <-- missing_fence
    out[b * 64 + t] = before;
}
CASE(barrier_before_the_flag)
{
    barrier_before_the_flag<<<12, 64>>>(input(768), fresh<int>(768), zeros<int>(768),
                                        zeros<int>(12), zeros<int>(1));
}

// The last block reads the sum that all of them add to.
// case last_block_reads_the_sum: missing_fence
__global__ void last_block_reads_the_sum(const int *in, int *sum, unsigned *done, int *out)
{
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        atomicAdd(sum, in[b]);
        if (atomicAdd(done, 1) == gridDim.x - 1) { // <-- missing_fence
            __threadfence();
            *out = atomicAdd(sum, 0);
        }
    }
}
CASE(last_block_reads_the_sum)
{
    last_block_reads_the_sum<<<12, 32>>>(input(12), zeros<int>(1), zeros<unsigned>(1),
                                         fresh<int>(1));
}

// case last_block_reads_volatile_parts: missing_fence
__global__ void last_block_reads_volatile_parts(const int *in, volatile int *parts, unsigned *done,
                                                int *out)
{
    __shared__ bool last;
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        parts[b] = in[b];
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1; // <-- missing_fence
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        int sum = 0;
        for (int k = 0; k < gridDim.x; ++k)
            sum += parts[k];
        *out = sum;
    }
}
CASE(last_block_reads_volatile_parts)
{
    last_block_reads_volatile_parts<<<12, 32>>>(input(12), fresh<int>(12), zeros<unsigned>(1),
                                                fresh<int>(1));
}

// A barrier of the grid with a leader: who waits for the leader relies on all others.
// case grid_barrier_with_leader: missing_fence
__global__ void grid_barrier_with_leader(const int *in, int *parts, int *arrived, int *go, int *out)
{
    int b = blockIdx.x, next = (b + 1) % gridDim.x;
    atomicExch(&parts[b], in[b]);
    if (atomicAdd(arrived, 1) == gridDim.x - 1) // <-- missing_fence
        atomicExch(go, 1);                      // <-- missing_fence
    wait_for(go);
    out[b] = static_cast<volatile int *>(parts)[next];
}
CASE(grid_barrier_with_leader)
{
    const int *in = input(8);
    int *parts = zeros<int>(8), *arrived = zeros<int>(1), *go = zeros<int>(1), *out = fresh<int>(8);
    void *arguments[] = {&in, &parts, &arrived, &go, &out};
    cudaLaunchCooperativeKernel(grid_barrier_with_leader, dim3(8), dim3(1), arguments, 0, nullptr);
}

// The one who took the value clears its place: the value may come after that.
// case cleared_by_the_reader: missing_fence
__global__ void cleared_by_the_reader(const int *in, int *slots, int *flags)
{
    int b = blockIdx.x;
    if (b % 2 == 0) {
        atomicExch(&slots[b], in[b]);
        atomicExch(&flags[b], 1); // <-- missing_fence
    } else {
        wait_for(&flags[b - 1]);
        static_cast<volatile int *>(slots)[b - 1] = -1;
    }
}
CASE(cleared_by_the_reader)
{
    cleared_by_the_reader<<<8, 1>>>(input(8), zeros<int>(8), zeros<int>(8));
}

// case shared_exchanged: missing_fence
__global__ void shared_exchanged(const int *in, int *out)
{
    __shared__ int flag, data;
    int t = threadIdx.x;
    if (t == 0)
        flag = data = 0;
    __syncthreads();
    if (t == 0) {
        atomicExch(&data, in[0]);
        atomicExch(&flag, 1); // <-- missing_fence
    }
    if (t == 32) {
        while (*static_cast<volatile int *>(&flag) == 0)
            ;
        __threadfence_block();
        *out = *static_cast<volatile int *>(&data);
    }
}
CASE(shared_exchanged)
{
    shared_exchanged<<<1, 64>>>(input(1), fresh<int>(1));
}

// Warps that hand a carry on.
// case shared_carry_added: missing_fence
__global__ void shared_carry_added(const int *in, int *out)
{
    __shared__ int carry[9], flag[9];
    int t = threadIdx.x, warp = t / 32, before = 0;
    if (t < 9)
        carry[t] = 0, flag[t] = t == 0;
    __syncthreads();
    if (t % 32 == 0) {
        while (atomicAdd(&flag[warp], 0) == 0)
            ;
        __threadfence_block();
        before = atomicAdd(&carry[warp], 0);
        atomicAdd(&carry[warp + 1], before + in[t]);
        atomicExch(&flag[warp + 1], 1); // <-- missing_fence
        out[warp] = before;
    }
}
CASE(shared_carry_added)
{
    shared_carry_added<<<1, 256>>>(input(256), fresh<int>(8));
}
