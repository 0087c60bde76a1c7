// What looks like a fault of barriers or shared memory, and is none.
#include "../faults.cuh"

#include <cooperative_groups.h>

// case kogge_stone_two_barriers: clean
__global__ void kogge_stone_two_barriers(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    for (int o = 1; o < 256; o *= 2) {
        __syncthreads();
        int x = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += x;
    }
    out[t] = s[t];
}
CASE(kogge_stone_two_barriers)
{
    int *out = fresh<int>(256);
    kogge_stone_two_barriers<<<1, 256>>>(input(256), out);
    expect(out, 256, [](size_t i) { return input_sum(i + 1); });
}

// One barrier per step is enough with two buffers.
// case double_buffer: clean
__global__ void double_buffer(const int *in, int *out)
{
    __shared__ int s[2][128];
    int t = threadIdx.x, from = 0;
    s[from][t] = in[t];
    __syncthreads();
    for (int o = 1; o < 128; o *= 2) {
        s[1 - from][t] = s[from][t] + (t >= o ? s[from][t - o] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[t] = s[from][t];
}
CASE(double_buffer)
{
    int *out = fresh<int>(128);
    double_buffer<<<1, 128>>>(input(128), out);
    expect(out, 128, [](size_t i) { return input_sum(i + 1); });
}

// The tile is used again, behind a barrier.
// case tile_used_again: clean
__global__ void tile_used_again(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, carry = 0;
    for (int b = 0; b < n; b += 64) {
        s[t] = in[b + t];
        __syncthreads();
        out[b + t] = carry + s[63 - t];
        carry += s[63];
        __syncthreads();
    }
}
CASE(tile_used_again)
{
    int *out = fresh<int>(192);
    tile_used_again<<<1, 64>>>(made<int>(192, [](size_t) { return 1; }), out, 192);
    expect(out, 192, [](size_t i) { return i / 64 + 1; });
}

// case early_exit: clean
__global__ void early_exit(const int *in, int *out, int n)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    if (t >= n)
        return; // exited threads are not waited for
    s[t] = in[t];
    __syncthreads();
    out[t] = s[n - 1 - t];
}
CASE(early_exit)
{
    int *out = fresh<int>(256);
    early_exit<<<1, 256>>>(input(201), out, 201);
    expect(out, 201, [](size_t i) { return (200 - i) % 3 + 1; });
}

// Half of the rest leaves at every step, inside of warps as well.
// case leaving_one_by_one: clean
__global__ void leaving_one_by_one(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int o = 64; o; o /= 2) {
        if (t >= o)
            return;
        s[t] += s[t + o];
        __syncthreads();
    }
    *out = s[0];
}
CASE(leaving_one_by_one)
{
    int *out = fresh<int>(1);
    leaving_one_by_one<<<1, 128>>>(input(128), out);
    expect(out, 1, [](size_t) { return input_sum(128); });
}

// Threads with nothing to do write their zero and end; the others go on behind the barrier.
// case work_before_the_exit: clean
__global__ void work_before_the_exit(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= n) {
        out[t] = -1;
        return;
    }
    s[t] = in[t];
    __syncthreads();
    out[t] = s[n - 1 - t];
}
CASE(work_before_the_exit)
{
    int *out = fresh<int>(64);
    work_before_the_exit<<<1, 64>>>(input(50), out, 50);
    expect(out, 64, [](size_t i) { return i < 50 ? static_cast<int>((49 - i) % 3 + 1) : -1; });
}

// The condition is the same for the whole block.
// case barrier_under_a_uniform_condition: clean
__global__ void barrier_under_a_uniform_condition(const int *in, int *out, int n)
{
    __shared__ int s[96];
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = in[t];
    if (b % 2 == 0) {
        __syncthreads();
        out[b * 96 + t] = s[95 - t];
    } else {
        __syncthreads();
        out[b * 96 + t] = s[(t + 1) % 96] + n;
    }
}
CASE(barrier_under_a_uniform_condition)
{
    int *out = fresh<int>(4 * 96);
    barrier_under_a_uniform_condition<<<4, 96>>>(input(96), out, 10);
    expect(out, 4 * 96, [](size_t i) {
        size_t b = i / 96, t = i % 96;
        return b % 2 == 0 ? (95 - t) % 3 + 1 : (t + 1) % 96 % 3 + 11;
    });
}

// case byte_flags_side_by_side: clean
__global__ void byte_flags_side_by_side(const int *in, int *out)
{
    __shared__ unsigned char flags[256];
    __shared__ unsigned short positions[256];
    int t = threadIdx.x;
    flags[t] = in[t] > 1;
    positions[t] = static_cast<unsigned short>(t);
    __syncthreads();
    out[t] = flags[t ^ 1] + positions[255 - t];
}
CASE(byte_flags_side_by_side)
{
    int *out = fresh<int>(256);
    byte_flags_side_by_side<<<1, 256>>>(input(256), out);
    expect(out, 256, [](size_t i) { return ((i ^ 1) % 3 > 0) + 255 - i; });
}

// Every thread that finds something stores the same value.
// case all_store_the_same: clean
__global__ void all_store_the_same(const int *in, int *out)
{
    __shared__ int found;
    int t = threadIdx.x;
    if (t == 0)
        found = 0;
    __syncthreads();
    if (in[t] == 3)
        found = 1;
    __syncthreads();
    out[t] = found;
}
CASE(all_store_the_same)
{
    int *out = fresh<int>(128);
    all_store_the_same<<<1, 128>>>(input(128), out);
    expect(out, 128, [](size_t) { return 1; });
}

// case votes_of_the_block: clean
__global__ void votes_of_the_block(const int *in, int *out)
{
    int v = in[threadIdx.x];
    int count = __syncthreads_count(v > 1);
    int any = __syncthreads_or(v == 3), all = __syncthreads_and(v > 1);
    out[threadIdx.x] = 100 * count + 10 * any + all;
}
CASE(votes_of_the_block)
{
    int *out = fresh<int>(96);
    votes_of_the_block<<<1, 96>>>(input(96), out);
    expect(out, 96, [](size_t) { return 6410; });
}

// Barriers with votes order memory like any other.
// case vote_as_barrier: clean
__global__ void vote_as_barrier(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    int any = __syncthreads_or(in[t] == 2);
    out[t] = s[127 - t] + any;
}
CASE(vote_as_barrier)
{
    int *out = fresh<int>(128);
    vote_as_barrier<<<1, 128>>>(input(128), out);
    expect(out, 128, [](size_t i) { return (127 - i) % 3 + 2; });
}

// Half of the block produces, the other half consumes.
// case producer_and_consumer: clean
__global__ void producer_and_consumer(const int *in, int *out, int n)
{
    __shared__ int buffer[64];
    int t = threadIdx.x;
    if (t < 64) {
        for (int b = 0; b < n; b += 64) {
            if (b)
                asm volatile("bar.sync 2, 128;" ::: "memory");
            buffer[t] = in[b + t];
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        }
    } else {
        t -= 64;
        for (int b = 0; b < n; b += 64) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[b + t] = buffer[63 - t];
            if (b + 64 < n)
                asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
}
CASE(producer_and_consumer)
{
    int *out = fresh<int>(192);
    producer_and_consumer<<<1, 128>>>(made<int>(192, [](size_t i) { return i; }), out, 192);
    expect(out, 192, [](size_t i) { return i / 64 * 64 + 63 - i % 64; });
}

// case barrier_of_two_warps: clean
__global__ void barrier_of_two_warps(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, pair = t / 64;
    s[t] = in[t];
    if (pair == 0)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    out[t] = s[t ^ 32];
}
CASE(barrier_of_two_warps)
{
    int *out = fresh<int>(128);
    barrier_of_two_warps<<<1, 128>>>(input(128), out);
    expect(out, 128, [](size_t i) { return (i ^ 32) % 3 + 1; });
}

// case dynamic_parts: clean
__global__ void dynamic_parts(const int *in, int *out, int n)
{
    extern __shared__ unsigned char raw[];
    double *sums = reinterpret_cast<double *>(raw);
    int *values = reinterpret_cast<int *>(sums + n);
    unsigned char *flags = reinterpret_cast<unsigned char *>(values + n);
    int t = threadIdx.x;
    values[t] = in[t];
    flags[t] = in[t] == 2;
    __syncthreads();
    sums[t] = values[n - 1 - t] + flags[n - 1 - t];
    __syncthreads();
    out[t] = static_cast<int>(sums[n - 1 - t]);
}
CASE(dynamic_parts)
{
    int *out = fresh<int>(96);
    dynamic_parts<<<1, 96, 96 * 13>>>(input(96), out, 96);
    expect(out, 96, [](size_t i) { return i % 3 + 1 + (i % 3 == 1); });
}

// One thread per column writes what all others read, in turns with barriers.
// case carry_in_turns: clean
__global__ void carry_in_turns(const int *in, int *out, int n)
{
    __shared__ int carry;
    int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    __syncthreads();
    for (int b = 0; b < n; b += 32) {
        int before = carry, v = in[b + t];
        for (int o = 1; o < 32; o *= 2) {
            int x = __shfl_up_sync(FULL, v, o);
            if (t >= o)
                v += x;
        }
        out[b + t] = before + v;
        __syncthreads();
        if (t == 31)
            carry = before + v;
        __syncthreads();
    }
}
CASE(carry_in_turns)
{
    int *out = fresh<int>(128);
    carry_in_turns<<<1, 32>>>(input(128), out, 128);
    expect(out, 128, [](size_t i) { return input_sum(i + 1); });
}

// case atomics_in_shared_memory: clean
__global__ void atomics_in_shared_memory(const int *ids, int *out, int n)
{
    __shared__ int counts[4];
    __shared__ unsigned long long total;
    int t = threadIdx.x;
    if (t < 4)
        counts[t] = 0;
    if (t == 0)
        total = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        atomicAdd(&counts[ids[i]], 1);
        atomicAdd(&total, 1ull);
    }
    __syncthreads();
    if (t < 4)
        out[t] = counts[t] + (total == static_cast<unsigned long long>(n));
}
CASE(atomics_in_shared_memory)
{
    int *out = fresh<int>(4);
    atomics_in_shared_memory<<<1, 64>>>(input(300), out, 300);
    expect(out, 4, [](size_t i) { return i ? 101 : 1; });
}

// A transpose, padded against bank conflicts, with a block of 32 by 8.
// case transpose: clean
__global__ void transpose(const int *in, int *out)
{
    __shared__ int tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[y + k][x] = in[(y + k) * 32 + x];
    __syncthreads();
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * 32 + x] = tile[x][y + k];
}
CASE(transpose)
{
    int *out = fresh<int>(1024);
    transpose<<<1, dim3(32, 8)>>>(made<int>(1024, [](size_t i) { return i; }), out);
    expect(out, 1024, [](size_t i) { return i % 32 * 32 + i / 32; });
}

// case blelloch: clean
__global__ void blelloch(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x, offset = 1;
    s[2 * t] = in[2 * t];
    s[2 * t + 1] = in[2 * t + 1];
    for (int d = 128; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0)
        s[255] = 0;
    for (int d = 1; d < 256; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1, x = s[ai];
            s[ai] = s[bi];
            s[bi] += x;
        }
    }
    __syncthreads();
    out[2 * t] = s[2 * t];
    out[2 * t + 1] = s[2 * t + 1];
}
CASE(blelloch)
{
    int *out = fresh<int>(256);
    blelloch<<<1, 128>>>(input(256), out);
    expect(out, 256, [](size_t i) { return input_sum(i); });
}

// One struct per thread: a whole number of its own bytes, padding included.
// case structures_side_by_side: clean
struct record {
    char kind;
    short weight;
    int value;
    char flag;
};
__global__ void structures_side_by_side(const int *in, int *out)
{
    __shared__ record records[64];
    int t = threadIdx.x;
    record mine;
    mine.kind = 1;
    mine.weight = static_cast<short>(in[t]);
    mine.value = t;
    mine.flag = 2;
    records[t] = mine;
    __syncthreads();
    record other = records[63 - t];
    __syncthreads();
    records[t] = other;
    __syncthreads();
    out[t] = records[t].kind + records[t].weight + records[t].value + records[t].flag;
}
CASE(structures_side_by_side)
{
    int *out = fresh<int>(64);
    structures_side_by_side<<<1, 64>>>(input(64), out);
    expect(out, 64, [](size_t i) { return 3 + (63 - i) % 3 + 1 + 63 - i; });
}

// Words, bytes of them, and words again, with barriers between; bytes side by side without.
// case widths_in_turns: clean
__global__ void widths_in_turns(int *out)
{
    __shared__ unsigned words[64];
    int t = threadIdx.x;
    words[t] = 0;
    for (int k = 0; k < 3; ++k) {
        __syncthreads();
        unsigned char *bytes = reinterpret_cast<unsigned char *>(words);
        for (int part = 0; part < 4; ++part)
            bytes[64 * part + (t ^ part)] += 1;
        __syncthreads();
        words[t ^ 32] += 0x01000000u;
    }
    __syncthreads();
    out[t] = words[63 - t];
}
CASE(widths_in_turns)
{
    int *out = fresh<int>(64);
    widths_in_turns<<<1, 64>>>(out);
    expect(out, 64, [](size_t) { return 0x06030303; });
}
