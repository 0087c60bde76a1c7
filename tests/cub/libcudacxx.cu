// libcu++: atomics of every scope and order, barriers, latches, semaphores, memcpy_async with
// barriers and with a pipeline, annotated pointers.
#include "common.cuh"

#include <algorithm>

#include <cuda/annotated_ptr>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

#include <cooperative_groups.h>

enum { BLOCK = 128, SWAPS = 4096 /* threads that change one word by compare-and-swap */ };

static int blocks_for(int n)
{
    return (n + BLOCK - 1) / BLOCK;
}

// ---- atomics ----

// Every operation once, in one scope; the results do not depend on the order of the threads.
template <typename T, cuda::thread_scope SCOPE>
__global__ void atomics(const T *in, T *sums, unsigned *bits, int n)
{
    int i = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    if (i >= n)
        return;
    T v = in[i];
    T *cells = SCOPE == cuda::thread_scope_block ? sums + 8 * blockIdx.x : sums;
    using ref = cuda::atomic_ref<T, SCOPE>;
    ref(cells[0]).fetch_add(v, cuda::memory_order_relaxed);
    ref(cells[1]).fetch_sub(v, cuda::memory_order_release);
    ref(cells[2]).fetch_max(v, cuda::memory_order_acquire);
    ref(cells[3]).fetch_min(v, cuda::memory_order_acq_rel);
    ref(cells[4]).fetch_add(1, cuda::memory_order_seq_cst);
    ref product(cells[5]); // a compare-and-swap loop: + 2 each
    T seen = product.load(cuda::memory_order_relaxed);
    while (i < SWAPS && !product.compare_exchange_weak(seen, seen + 2, cuda::memory_order_acq_rel,
                                                       cuda::memory_order_relaxed))
        continue;
    T before = ref(cells[6]).exchange(v, cuda::memory_order_seq_cst); // all but the last come back
    ref(cells[7]).fetch_add(before, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> word(*bits);
    word.fetch_or(1u << (i & 31), cuda::memory_order_relaxed);
    word.fetch_and(~0u, cuda::memory_order_relaxed);
    word.fetch_xor(0u, cuda::memory_order_relaxed);
}

template <typename T, cuda::thread_scope SCOPE> static void test_atomics(const char *name, int n)
{
    const bool by_block = SCOPE == cuda::thread_scope_block;
    const int blocks = blocks_for(n), groups = by_block ? blocks : 1, each = by_block ? BLOCK : n;
    const std::vector<T> in = random_values<T>(n);
    std::vector<T> start_values(8 * groups), expected(8 * groups);
    for (int g = 0; g < groups; ++g) {
        T *cells = &expected[8 * g];
        for (int i = g * each; i < (g + 1) * each && i < n; ++i) {
            cells[0] += in[i];
            cells[1] -= in[i];
            cells[2] = std::max(cells[2], in[i]);
            cells[3] = std::min(cells[3], in[i]);
            cells[4] += 1;
            cells[5] += i < SWAPS ? 2 : 0;
            cells[6] += in[i]; // compared with the sum of cells 6 and 7
        }
    }
    device_buffer<T> d_in(in), d_cells(start_values);
    device_buffer<unsigned> d_bits(std::vector<unsigned>{0});
    kernel_call<T>(name, n, [&] {
        if (n)
            atomics<T, SCOPE><<<blocks, BLOCK>>>(d_in.data, d_cells.data, d_bits.data, n);
    });
    std::vector<T> got = d_cells.read(expected.size());
    for (int g = 0; g < groups; ++g) {
        got[8 * g + 6] += got[8 * g + 7];
        got[8 * g + 7] = 0;
    }
    expect(expected, got, "cells");
    expect_one(n >= 32 ? ~0u : (1u << n) - 1, d_bits, "bits");
}

// ---- barriers, latches, semaphores ----

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// A scan in shared memory whose steps are separated by a cuda::barrier: arrive and wait, split in
// two halves with work in between. Odd threads drop out before the last phase.
__global__ void scan_with_barrier(const int *in, int *out, int n)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ block_barrier barrier;
    __shared__ int values[2][BLOCK];
    int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x * BLOCK) + t;
    if (t == 0)
        init(&barrier, BLOCK);
    __syncthreads();
    int v = i < n ? in[i] : 0, now = 0;
    values[0][t] = v;
    for (int d = 1; d < BLOCK; d *= 2, now ^= 1) {
        block_barrier::arrival_token token = barrier.arrive();
        int reach = t >= d ? t - d : -1; // needs nobody else
        barrier.wait(std::move(token));
        v = values[now][t] + (reach >= 0 ? values[now][reach] : 0);
        values[now ^ 1][t] = v;
    }
    if (t % 2) {
        barrier.arrive_and_drop();
    } else {
        barrier.arrive_and_wait();
        if (i < n)
            out[i] = values[now][t];
        if (i + 1 < n)
            out[i + 1] = values[now][t + 1];
    }
}

static void test_barrier(int n)
{
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> expected(in);
    for (int i = 0; i < n; ++i)
        if (i % BLOCK)
            expected[i] += expected[i - 1];
    device_buffer<int> d_in(in), d_out(n);
    kernel_call<int>("cuda::barrier", n, [&] {
        if (n)
            scan_with_barrier<<<blocks_for(n), BLOCK>>>(d_in.data, d_out.data, n);
    });
    expect(expected, d_out);
}

// The warps hand work to warp 0 through a latch; a semaphore lets two threads at a time through.
__global__ void latch_and_semaphore(const int *in, int *sums, int *most, int n)
{
    __shared__ alignas(cuda::latch<cuda::thread_scope_block>) char
        latch_room[sizeof(cuda::latch<cuda::thread_scope_block>)];
    __shared__ alignas(cuda::counting_semaphore<cuda::thread_scope_block, 2>) char
        semaphore_room[sizeof(cuda::counting_semaphore<cuda::thread_scope_block, 2>)];
    __shared__ int values[BLOCK], inside, largest;
    auto *latch = reinterpret_cast<cuda::latch<cuda::thread_scope_block> *>(latch_room);
    auto *semaphore =
        reinterpret_cast<cuda::counting_semaphore<cuda::thread_scope_block, 2> *>(semaphore_room);
    int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x * BLOCK) + t;
    if (t == 0) {
        new (latch) cuda::latch<cuda::thread_scope_block>(BLOCK);
        new (semaphore) cuda::counting_semaphore<cuda::thread_scope_block, 2>(2);
        inside = largest = 0;
    }
    __syncthreads();
    values[t] = i < n ? in[i] : 0;
    if (t < 32) {
        latch->arrive_and_wait();
        int sum = values[t] + values[t + 32] + values[t + 64] + values[t + 96];
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_down_sync(~0u, sum, d);
        if (t == 0)
            sums[blockIdx.x] = sum;
    } else {
        latch->count_down();
    }
    if (t % 16 == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_block> count(inside), high(largest);
        semaphore->acquire();
        high.fetch_max(count.fetch_add(1, cuda::memory_order_relaxed) + 1,
                       cuda::memory_order_relaxed);
        count.fetch_sub(1, cuda::memory_order_relaxed);
        semaphore->release();
    }
    __syncthreads();
    if (t == 0)
        most[blockIdx.x] = largest > 2 ? largest : 0;
}

static void test_latch(int n)
{
    const std::vector<int> in = random_values<int>(n);
    const int blocks = blocks_for(n);
    std::vector<int> sums(blocks);
    for (int i = 0; i < n; ++i)
        sums[i / BLOCK] += in[i];
    device_buffer<int> d_in(in), d_sums(blocks), d_most(blocks);
    kernel_call<int>("cuda::latch, cuda::counting_semaphore", n, [&] {
        if (n)
            latch_and_semaphore<<<blocks, BLOCK>>>(d_in.data, d_sums.data, d_most.data, n);
    });
    expect(sums, d_sums, "sums");
    expect(std::vector<int>(blocks), d_most, "more than two inside");
}

// ---- copies ----

// Tile after tile through shared memory: the copy is waited for at a barrier.
__global__ void copy_with_barrier(const int *in, int *out, int n)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ block_barrier barrier;
    __shared__ alignas(16) int tile[BLOCK];
    auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0)
        init(&barrier, BLOCK);
    block.sync();
    for (int first = 0; first < n; first += BLOCK) {
        int count = min(BLOCK, n - first), t = static_cast<int>(threadIdx.x);
        cuda::memcpy_async(block, tile, in + first, sizeof(int) * count, barrier);
        barrier.arrive_and_wait();
        if (t < count)
            out[first + t] = tile[count - 1 - t];
        block.sync();
    }
}

// The same with two stages of a pipeline: the next tile is on its way while this one is used.
__global__ void copy_with_pipeline(const int *in, int *out, int n)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) int tiles[2][BLOCK];
    auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int t = static_cast<int>(threadIdx.x);
    for (int used = 0, fetched = 0; used * BLOCK < n; ++used) {
        for (; fetched < used + 2 && fetched * BLOCK < n; ++fetched) {
            int count = min(BLOCK, n - fetched * BLOCK);
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tiles[fetched % 2], in + fetched * BLOCK, sizeof(int) * count,
                               pipeline);
            pipeline.producer_commit();
        }
        int count = min(BLOCK, n - used * BLOCK);
        pipeline.consumer_wait();
        if (t < count)
            out[used * BLOCK + t] = tiles[used % 2][count - 1 - t];
        pipeline.consumer_release();
    }
}

// A pipeline of one thread's own: every lane brings its own four ints.
__global__ void copy_alone(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[BLOCK][4];
    auto pipeline = cuda::make_pipeline();
    int t = static_cast<int>(threadIdx.x), i = 4 * (static_cast<int>(blockIdx.x * BLOCK) + t);
    if (i + 4 > n)
        return;
    pipeline.producer_acquire();
    cuda::memcpy_async(tile[t], in + i, cuda::aligned_size_t<16>(16), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    for (int k = 0; k < 4; ++k)
        out[i + k] = tile[t][3 - k];
    pipeline.consumer_release();
}

__global__ void copy_annotated(cuda::annotated_ptr<const int, cuda::access_property::streaming> in,
                               cuda::annotated_ptr<int, cuda::access_property::persisting> out,
                               int n)
{
    int i = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    if (i < n)
        out[i] = in[i] + 1;
}

static void test_copies(int n)
{
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> reversed(n), fours(n / 4 * 4), more(n);
    for (int i = 0; i < n; ++i) {
        int first = i / BLOCK * BLOCK, count = std::min(static_cast<int>(BLOCK), n - first);
        reversed[i] = in[first + count - 1 - (i - first)];
        more[i] = in[i] + 1;
    }
    for (int i = 0; i < n / 4 * 4; ++i)
        fours[i] = in[i / 4 * 4 + 3 - i % 4];
    device_buffer<int> d_in(in), d_barrier(n), d_pipeline(n), d_alone(n), d_annotated(n);
    kernel_call<int>("cuda::memcpy_async with a barrier", n,
                     [&] { copy_with_barrier<<<1, BLOCK>>>(d_in.data, d_barrier.data, n); });
    expect(reversed, d_barrier);
    kernel_call<int>("cuda::memcpy_async with a pipeline", n,
                     [&] { copy_with_pipeline<<<1, BLOCK>>>(d_in.data, d_pipeline.data, n); });
    expect(reversed, d_pipeline);
    kernel_call<int>("cuda::memcpy_async of one thread", n, [&] {
        if (n)
            copy_alone<<<blocks_for(n), BLOCK>>>(d_in.data, d_alone.data, n);
    });
    expect(fours, d_alone);
    kernel_call<int>("cuda::annotated_ptr", n, [&] {
        if (n)
            copy_annotated<<<blocks_for(n), BLOCK>>>(
                cuda::annotated_ptr<const int, cuda::access_property::streaming>(d_in.data),
                cuda::annotated_ptr<int, cuda::access_property::persisting>(d_annotated.data), n);
    });
    expect(more, d_annotated);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int n : sizes()) {
        test_atomics<int, cuda::thread_scope_block>("atomic_ref, block", n);
        test_atomics<int64, cuda::thread_scope_device>("atomic_ref, device", n);
        test_atomics<int, cuda::thread_scope_system>("atomic_ref, system", n);
        test_atomics<float, cuda::thread_scope_device>("atomic_ref, device", n);
        test_barrier(n);
        test_latch(n);
        test_copies(n);
    }
    return finish();
}
