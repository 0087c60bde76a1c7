// Single-pass scans with look-back, written with every tool people use for the tile states: inline
// PTX (acquire and release, relaxed with fences, 16-byte states), cuda::atomic_ref, volatile with
// __threadfence(), classic atomics. Tiles are numbered by an atomic ticket.
#include "common.cuh"

#include <cuda/atomic>

using u64 = unsigned long long;

enum { BLOCK = 128, TILE = BLOCK, EMPTY = 0, PARTIAL = 1, INCLUSIVE = 2 };

struct tile_state {
    unsigned status;
    int value;
};

// ---- protocols: publish(i, status, value) and wait(i) ----

__device__ inline u64 packed(unsigned status, int value)
{
    return static_cast<u64>(status) << 32 | static_cast<unsigned>(value);
}
__device__ inline tile_state unpacked(u64 word)
{
    return {static_cast<unsigned>(word >> 32), static_cast<int>(word)};
}

// One word, release and acquire.
struct ptx_acquire_release {
    static constexpr const char *name = "look-back, ld.acquire and st.release";
    u64 *words;
    __device__ void publish(int i, unsigned status, int value) const
    {
        asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(words + i),
                     "l"(packed(status, value))
                     : "memory");
    }
    __device__ tile_state wait(int i) const
    {
        u64 word;
        do
            asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                         : "=l"(word)
                         : "l"(words + i)
                         : "memory");
        while (!(word >> 32));
        return unpacked(word);
    }
};

// Value and flag in different words: plain value, fence, relaxed flag; relaxed flag, fence, value.
struct ptx_relaxed_fence {
    static constexpr const char *name = "look-back, relaxed flags with fences";
    u64 *words; // count words of {flag, unused}, then partial values, then inclusive values
    int count;
    __device__ int *values(unsigned status) const
    {
        return reinterpret_cast<int *>(words + count) + (status == INCLUSIVE ? count : 0);
    }
    __device__ void publish(int i, unsigned status, int value) const
    {
        values(status)[i] = value;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(words + i), "r"(status)
                     : "memory");
    }
    __device__ tile_state wait(int i) const
    {
        unsigned status;
        do
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                         : "=r"(status)
                         : "l"(words + i)
                         : "memory");
        while (status == EMPTY);
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        return {status, values(status)[i]};
    }
};

// A state of 16 bytes, written and read in one piece.
struct ptx_vector {
    static constexpr const char *name = "look-back, 16-byte states";
    u64 *words; // two per tile
    __device__ void publish(int i, unsigned status, int value) const
    {
        asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(words + 2 * i),
                     "l"(static_cast<u64>(status)), "l"(static_cast<u64>(value))
                     : "memory");
    }
    __device__ tile_state wait(int i) const
    {
        u64 status, value;
        do
            asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                         : "=l"(status), "=l"(value)
                         : "l"(words + 2 * i)
                         : "memory");
        while (status == EMPTY);
        return {static_cast<unsigned>(status), static_cast<int>(value)};
    }
};

// The flag is counted up by red.release.
struct ptx_red {
    static constexpr const char *name = "look-back, red.release";
    u64 *words;
    int count;
    __device__ int *values(unsigned status) const
    {
        return reinterpret_cast<int *>(words + count) + (status == INCLUSIVE ? count : 0);
    }
    __device__ void publish(int i, unsigned status, int value) const
    {
        values(status)[i] = value;
        // the first tile goes from EMPTY to INCLUSIVE at once
        unsigned step = status == INCLUSIVE && i == 0 ? 2 : 1;
        asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(words + i), "r"(step)
                     : "memory");
    }
    __device__ tile_state wait(int i) const
    {
        unsigned status;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(status)
                         : "l"(words + i)
                         : "memory");
        while (status == EMPTY);
        return {status, values(status)[i]};
    }
};

struct libcudacxx_ref {
    static constexpr const char *name = "look-back, cuda::atomic_ref";
    u64 *words;
    __device__ void publish(int i, unsigned status, int value) const
    {
        cuda::atomic_ref<u64, cuda::thread_scope_device> word(words[i]);
        word.store(packed(status, value), cuda::memory_order_release);
    }
    __device__ tile_state wait(int i) const
    {
        cuda::atomic_ref<u64, cuda::thread_scope_device> word(words[i]);
        u64 seen = word.load(cuda::memory_order_acquire);
        while (!(seen >> 32)) {
            __nanosleep(20);
            seen = word.load(cuda::memory_order_acquire);
        }
        return unpacked(seen);
    }
};

// A value that fits into the word needs no fence: relaxed everywhere.
struct libcudacxx_relaxed {
    static constexpr const char *name = "look-back, relaxed packed words";
    u64 *words;
    __device__ void publish(int i, unsigned status, int value) const
    {
        cuda::atomic_ref<u64, cuda::thread_scope_device> word(words[i]);
        word.store(packed(status, value), cuda::memory_order_relaxed);
    }
    __device__ tile_state wait(int i) const
    {
        cuda::atomic_ref<u64, cuda::thread_scope_device> word(words[i]);
        u64 seen;
        while (!((seen = word.load(cuda::memory_order_relaxed)) >> 32))
            continue;
        return unpacked(seen);
    }
};

struct volatile_threadfence {
    static constexpr const char *name = "look-back, volatile with __threadfence()";
    u64 *words;
    int count;
    __device__ volatile int *values(unsigned status) const
    {
        return reinterpret_cast<int *>(words + count) + (status == INCLUSIVE ? count : 0);
    }
    __device__ void publish(int i, unsigned status, int value) const
    {
        values(status)[i] = value;
        __threadfence();
        *reinterpret_cast<volatile unsigned *>(words + i) = status;
    }
    __device__ tile_state wait(int i) const
    {
        unsigned status;
        while ((status = *reinterpret_cast<volatile unsigned *>(words + i)) == EMPTY)
            continue;
        __threadfence();
        return {status, values(status)[i]};
    }
};

struct classic_atomics {
    static constexpr const char *name = "look-back, atomicExch and atomicAdd of 0";
    u64 *words;
    __device__ void publish(int i, unsigned status, int value) const
    {
        atomicExch(words + i, packed(status, value));
    }
    __device__ tile_state wait(int i) const
    {
        u64 word;
        while (!((word = atomicAdd(words + i, 0ull)) >> 32))
            continue;
        return unpacked(word);
    }
};

// ---- the scan ----

__device__ inline int block_inclusive(int v)
{
    __shared__ int totals[BLOCK / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(~0u, v, d);
        v += lane >= d ? left : 0;
    }
    if (lane == 31)
        totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w)
        v += totals[w];
    return v;
}

template <typename Protocol>
__global__ void scan(const int *in, int *out, int n, Protocol protocol, unsigned *ticket)
{
    __shared__ int tile, before;
    if (threadIdx.x == 0)
        tile = static_cast<int>(atomicAdd(ticket, 1));
    __syncthreads();
    int i = tile * TILE + static_cast<int>(threadIdx.x);
    int v = block_inclusive(i < n ? in[i] : 0);
    if (threadIdx.x == BLOCK - 1) {
        int sum = 0;
        if (tile > 0)
            protocol.publish(tile, PARTIAL, v);
        for (int t = tile - 1; t >= 0; --t) {
            tile_state state = protocol.wait(t);
            sum += state.value;
            if (state.status == INCLUSIVE)
                break;
        }
        protocol.publish(tile, INCLUSIVE, sum + v);
        before = sum;
    }
    __syncthreads();
    if (i < n)
        out[i] = before + v;
}

// A warp looks back over 32 tiles at a time.
template <typename Protocol>
__global__ void scan_by_warps(const int *in, int *out, int n, Protocol protocol, unsigned *ticket)
{
    __shared__ int tile, before;
    if (threadIdx.x == 0)
        tile = static_cast<int>(atomicAdd(ticket, 1));
    __syncthreads();
    int lane = threadIdx.x % 32, i = tile * TILE + static_cast<int>(threadIdx.x);
    int v = block_inclusive(i < n ? in[i] : 0);
    if (threadIdx.x / 32 == BLOCK / 32 - 1) {
        int total = __shfl_sync(~0u, v, 31), sum = 0;
        if (tile > 0 && lane == 0)
            protocol.publish(tile, PARTIAL, total);
        for (int t = tile - 1 - lane, go = tile > 0; go; t -= 32) {
            tile_state state = {INCLUSIVE, 0};
            if (t >= 0)
                state = protocol.wait(t);
            unsigned stop = __ballot_sync(~0u, state.status == INCLUSIVE);
            int value = stop && lane > __ffs(stop) - 1 ? 0 : state.value;
            for (int d = 16; d > 0; d /= 2)
                value += __shfl_xor_sync(~0u, value, d);
            sum += value;
            go = !stop;
        }
        if (lane == 0) {
            protocol.publish(tile, INCLUSIVE, sum + total);
            before = sum;
        }
    }
    __syncthreads();
    if (i < n)
        out[i] = before + v;
}

template <typename Protocol> static Protocol make(u64 *words, int count)
{
    if constexpr (sizeof(Protocol) > sizeof words)
        return {words, count};
    else
        return {words};
}

template <typename Protocol> static void test_protocol(int n)
{
    const std::vector<int> in = random_values<int>(n);
    std::vector<int> expected(n);
    for (int i = 0, sum = 0; i < n; ++i)
        expected[i] = sum += in[i];
    const int tiles = n / TILE + (n % TILE != 0);
    device_buffer<int> d_in(in), d_out(n);
    device_buffer<u64> d_words(2 * tiles + 1);
    device_buffer<unsigned> d_ticket(1);
    for (int way = 0; way < 2; ++way) {
        check(cudaMemset(d_words.data, 0, d_words.count * sizeof(u64)), "cudaMemset");
        check(cudaMemset(d_ticket.data, 0, sizeof(unsigned)), "cudaMemset");
        Protocol protocol = make<Protocol>(d_words.data, tiles);
        kernel_call<int>(Protocol::name, n, [&] {
            if (n > 0 && way == 0)
                scan<<<tiles, BLOCK>>>(d_in.data, d_out.data, n, protocol, d_ticket.data);
            else if (n > 0)
                scan_by_warps<<<tiles, BLOCK>>>(d_in.data, d_out.data, n, protocol, d_ticket.data);
        });
        expect(expected, d_out, way ? "by warps" : "by one thread");
    }
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int n : sizes()) {
        test_protocol<ptx_acquire_release>(n);
        test_protocol<ptx_relaxed_fence>(n);
        test_protocol<ptx_vector>(n);
        test_protocol<ptx_red>(n);
        test_protocol<libcudacxx_ref>(n);
        test_protocol<libcudacxx_relaxed>(n);
        test_protocol<volatile_threadfence>(n);
        test_protocol<classic_atomics>(n);
    }
    return finish();
}
