// Races in shared memory that a __syncthreads would end.
#include "../faults.cuh"

// Only the second trip through the loop shows it.
// case tile_used_again: data_race
__global__ void tile_used_again(const int *in, int *out, int n)
{
    __shared__ int s[256];
    int t = threadIdx.x, carry = 0;
    for (int b = 0; b < n; b += 256) {
        s[t] = in[b + t]; // <-- data_race
        __syncthreads();
        carry += s[255];
        out[b + t] = carry + s[255 - t];
    }
}
CASE(tile_used_again)
{
    tile_used_again<<<1, 256>>>(input(512), fresh<int>(512), 512);
}

// The same for the last read of a phase that is left through another shared array.
// case second_array_between: data_race
__global__ void second_array_between(const int *in, int *out, int n)
{
    __shared__ int a[64], b[64];
    int t = threadIdx.x;
    for (int k = 0; k < n; k += 64) {
        a[t] = in[k + t]; // <-- data_race
        __syncthreads();
        b[t] = a[t] + a[63 - t];
        out[k + t] = b[t];
    }
}
CASE(second_array_between)
{
    second_array_between<<<1, 64>>>(input(128), fresh<int>(128), 128);
}

// case kogge_stone_in_place: data_race
__global__ void kogge_stone_in_place(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    for (int o = 1; o < 128; o *= 2) {
        __syncthreads();
        if (t >= o)
            s[t] += s[t - o]; // <-- data_race
    }
    __syncthreads();
    out[t] = s[t];
}
CASE(kogge_stone_in_place)
{
    kogge_stone_in_place<<<1, 128>>>(input(128), fresh<int>(128));
}

// case kogge_stone_of_maxima: data_race
__global__ void kogge_stone_of_maxima(const double *in, double *out)
{
    __shared__ double s[96];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int o = 1; o < 96; o *= 2) {
        double x = t >= o ? s[t - o] : -1.0;
        s[t] = fmax(s[t], x); // <-- data_race
        __syncthreads();
    }
    out[t] = s[t];
}
CASE(kogge_stone_of_maxima)
{
    kogge_stone_of_maxima<<<1, 96>>>(zeros<double>(96), fresh<double>(96));
}

// case barrier_after_the_read_only: data_race
__global__ void barrier_after_the_read_only(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int o = 1; o < 128; o *= 2) {
        int x = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += x; // <-- data_race
    }
    out[t] = s[t];
}
CASE(barrier_after_the_read_only)
{
    barrier_after_the_read_only<<<1, 128>>>(input(128), fresh<int>(128));
}

// case carry_rewritten: data_race
__global__ void carry_rewritten(const int *in, int *out, int n)
{
    __shared__ int carry;
    int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    __syncthreads();
    for (int b = 0; b < n; b += 128) {
        out[b + t] = carry + in[b + t];
        if (t == 127)
            carry += in[b + t]; // <-- data_race
        __syncthreads();
    }
}
CASE(carry_rewritten)
{
    carry_rewritten<<<1, 128>>>(input(256), fresh<int>(256), 256);
}

// case total_not_published: data_race
// also: uninitialized_read
__global__ void total_not_published(const int *in, int *out)
{
    __shared__ int total;
    int t = threadIdx.x;
    if (t == blockDim.x - 1)
        total = in[t]; // <-- data_race
    out[t] = total;
}
CASE(total_not_published)
{
    total_not_published<<<1, 128>>>(input(128), fresh<int>(128));
}

// case warp_totals_not_published: data_race
// also: uninitialized_read
__global__ void warp_totals_not_published(const int *in, int *out)
{
    __shared__ int totals[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = in[threadIdx.x];
    for (int o = 16; o; o /= 2)
        v += __shfl_down_sync(FULL, v, o);
    if (lane == 0)
        totals[warp] = v; // <-- data_race
    if (warp == 0) {
        int w = lane < 8 ? totals[lane] : 0;
        for (int o = 4; o; o /= 2)
            w += __shfl_down_sync(FULL, w, o);
        if (lane == 0)
            *out = w;
    }
}
CASE(warp_totals_not_published)
{
    warp_totals_not_published<<<1, 256>>>(input(256), fresh<int>(1));
}

// case scanned_totals_not_published: data_race
__global__ void scanned_totals_not_published(const int *in, int *out)
{
    __shared__ int totals[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = in[threadIdx.x];
    if (lane == 0)
        totals[warp] = v;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < 8; ++w)
            totals[w] += totals[w - 1]; // <-- data_race
    out[threadIdx.x] = totals[warp];
}
CASE(scanned_totals_not_published)
{
    scanned_totals_not_published<<<1, 256>>>(input(256), fresh<int>(256));
}

// The upsweep is right; a step of the downsweep lacks its barrier.
// case downsweep_without_barrier: data_race
__global__ void downsweep_without_barrier(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[2 * t] = in[2 * t];
    s[2 * t + 1] = in[2 * t + 1];
    int offset = 1;
    for (int d = 128; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0)
        s[255] = 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        offset /= 2;
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1, x = s[ai];
            s[ai] = s[bi]; // <-- data_race
            s[bi] += x;    // <-- data_race
        }
    }
    __syncthreads();
    out[2 * t] = s[2 * t];
    out[2 * t + 1] = s[2 * t + 1];
}
CASE(downsweep_without_barrier)
{
    downsweep_without_barrier<<<1, 128>>>(input(256), fresh<int>(256));
}

// case double_buffer_not_swapped: data_race
__global__ void double_buffer_not_swapped(const int *in, int *out)
{
    __shared__ int s[2][128];
    int t = threadIdx.x, from = 0, to = 1;
    s[from][t] = in[t];
    __syncthreads();
    for (int o = 1; o < 128; o *= 2) {
        s[to][t] = t >= o ? s[from][t] + s[from][t - o] : s[from][t]; // <-- data_race
        __syncthreads();
        from = to; // and `to` stays
    }
    out[t] = s[from][t];
}
CASE(double_buffer_not_swapped)
{
    double_buffer_not_swapped<<<1, 128>>>(input(128), fresh<int>(128));
}

// case bits_of_one_byte: data_race
__global__ void bits_of_one_byte(const int *in, int *out)
{
    __shared__ unsigned char bits[32];
    int t = threadIdx.x;
    if (t < 32)
        bits[t] = 0;
    __syncthreads();
    if (in[t] > 1)
        bits[t / 8] |= 1 << t % 8; // <-- data_race
    __syncthreads();
    out[t] = bits[t / 8];
}
CASE(bits_of_one_byte)
{
    bits_of_one_byte<<<1, 256>>>(input(256), fresh<int>(256));
}

// case histogram_without_atomics: data_race
__global__ void histogram_without_atomics(const int *ids, int *out)
{
    __shared__ int counts[4];
    int t = threadIdx.x;
    if (t < 4)
        counts[t] = 0;
    __syncthreads();
    counts[ids[t]]++; // <-- data_race
    __syncthreads();
    if (t < 4)
        out[t] = counts[t];
}
CASE(histogram_without_atomics)
{
    histogram_without_atomics<<<1, 256>>>(input(256), fresh<int>(4));
}

// One thread of each warp: no two lanes of a warp meet.
// case halfword_counter: data_race
__global__ void halfword_counter(const int *in, int *out)
{
    __shared__ unsigned short counts[2];
    int t = threadIdx.x;
    if (t < 2)
        counts[t] = 0;
    __syncthreads();
    if (t % 32 == 0)
        counts[in[t] & 1] += 1; // <-- data_race
    __syncthreads();
    if (t < 2)
        out[t] = counts[t];
}
CASE(halfword_counter)
{
    halfword_counter<<<1, 256>>>(input(256), fresh<int>(2));
}

// case atomic_then_plain_read: data_race
__global__ void atomic_then_plain_read(const int *in, int *out)
{
    __shared__ int kept;
    int t = threadIdx.x;
    if (t == 0)
        kept = 0;
    __syncthreads();
    if (in[t] > 1)
        atomicAdd(&kept, 1); // <-- data_race
    out[t] = kept;
}
CASE(atomic_then_plain_read)
{
    atomic_then_plain_read<<<1, 128>>>(input(128), fresh<int>(128));
}

// case all_write_their_own: data_race
__global__ void all_write_their_own(int *out)
{
    __shared__ int last;
    last = threadIdx.x; // <-- data_race
    __syncthreads();
    out[threadIdx.x] = last;
}
CASE(all_write_their_own)
{
    all_write_their_own<<<1, 64>>>(fresh<int>(64));
}

// Written as ints, read as doubles.
// case other_width: data_race
// also: uninitialized_read
__global__ void other_width(const int *in, double *out)
{
    __shared__ double s[64];
    int t = threadIdx.x;
    reinterpret_cast<int *>(s)[t] = in[t]; // <-- data_race
    if (t < 64)
        out[t] = s[t];
}
CASE(other_width)
{
    other_width<<<1, 128>>>(zeros<int>(128), fresh<double>(64));
}

// case overlapping_parts: data_race
__global__ void overlapping_parts(const int *in, int *out, int n)
{
    extern __shared__ unsigned char raw[];
    int *values = reinterpret_cast<int *>(raw);
    int *ranks = reinterpret_cast<int *>(raw + n); // bytes, not elements
    int t = threadIdx.x;
    values[t] = in[t];
    ranks[t] = t; // <-- data_race
    __syncthreads();
    out[t] = values[t] + ranks[t];
}
CASE(overlapping_parts)
{
    overlapping_parts<<<1, 128, 2 * 128 * sizeof(int)>>>(input(128), fresh<int>(128), 128);
}

// case transpose_without_barrier: data_race
// also: uninitialized_read
__global__ void transpose_without_barrier(const int *in, int *out)
{
    __shared__ int tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 32 + x]; // <-- data_race
    out[y * 32 + x] = tile[x][y];
}
CASE(transpose_without_barrier)
{
    transpose_without_barrier<<<1, dim3(32, 32)>>>(input(1024), fresh<int>(1024));
}

// The events of a warp are counted in 16 bits: a race after very many of them is one all the same.
// case after_70000_shuffles: data_race
// also: uninitialized_read
__global__ void after_70000_shuffles(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, v = in[t];
    for (int k = 0; k < 70000; ++k)
        v = __shfl_xor_sync(FULL, v, 1);
    s[t] = v; // <-- data_race
    out[t] = s[t ^ 32];
}
CASE(after_70000_shuffles)
{
    after_70000_shuffles<<<1, 64>>>(input(64), fresh<int>(64));
}

// Many barriers later.
// case after_300000_barriers: data_race
// also: uninitialized_read
__global__ void after_300000_barriers(const int *in, int *out, int trips)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    for (int k = 0; k < trips; ++k)
        __syncthreads();
    s[t] = in[t]; // <-- data_race
    out[t] = s[t ^ 32];
}
CASE(after_300000_barriers)
{
    after_300000_barriers<<<1, 64>>>(input(64), fresh<int>(64), 300000);
}

// The last warp is not full, the block has two dimensions.
// case odd_block: data_race
// also: uninitialized_read
__global__ void odd_block(const int *in, int *out)
{
    __shared__ int s[105];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    s[t] = in[t]; // <-- data_race
    out[t] = s[104 - t];
}
CASE(odd_block)
{
    odd_block<<<1, dim3(15, 7)>>>(input(105), fresh<int>(105));
}

// Written by a store of 16 bytes, read one by one.
// case vector_store: data_race
// also: uninitialized_read
__global__ void vector_store(const int4 *in, int *out)
{
    __shared__ int4 s[64];
    int t = threadIdx.x;
    s[t] = in[t]; // <-- data_race
    const int *words = reinterpret_cast<const int *>(s);
    out[t] = words[255 - t];
}
CASE(vector_store)
{
    vector_store<<<1, 64>>>(zeros<int4>(64), fresh<int>(64));
}

// In another function, through a pointer that does not say shared.
// case through_a_pointer: data_race
// also: uninitialized_read
__device__ __noinline__ void put(int *where, int value)
{
    *where = value; // <-- data_race
}
__device__ __noinline__ int get(const int *where)
{
    return *where;
}
__global__ void through_a_pointer(const int *in, int *out)
{
    __shared__ int s[128];
    put(&s[threadIdx.x], in[threadIdx.x]);
    out[threadIdx.x] = get(&s[127 - threadIdx.x]);
}
CASE(through_a_pointer)
{
    through_a_pointer<<<1, 128>>>(input(128), fresh<int>(128));
}

// Words, bytes of them, and words again: what met is told whichever width came first.
// case halves_of_a_word_written_whole: data_race
__global__ void halves_of_a_word_written_whole(int *out)
{
    __shared__ alignas(4) unsigned short halves[256];
    int t = threadIdx.x;
    halves[t] = static_cast<unsigned short>(t);
    halves[t + 128] = 0;
    __syncthreads();
    reinterpret_cast<unsigned *>(halves)[t] = t; // <-- data_race
    out[t] = halves[(2 * t + 64) % 256];
}
CASE(halves_of_a_word_written_whole)
{
    halves_of_a_word_written_whole<<<1, 128>>>(fresh<int>(128));
}

// case word_of_which_a_half_is_written: data_race
__global__ void word_of_which_a_half_is_written(int *out)
{
    __shared__ uint2 pairs[64];
    int t = threadIdx.x;
    pairs[t] = make_uint2(t, t);
    __syncthreads();
    reinterpret_cast<unsigned short *>(pairs)[4 * t + 1] = 7; // <-- data_race
    uint2 other = pairs[t ^ 32];
    out[t] = other.x + other.y;
}
CASE(word_of_which_a_half_is_written)
{
    word_of_which_a_half_is_written<<<1, 64>>>(fresh<int>(64));
}
