// Reads of bytes that nobody wrote. Fresh memory is often zero on a GPU, which hides all of these.
#include "../faults.cuh"

// case counts_not_cleared: uninitialized_read
__global__ void counts_not_cleared(const int *ids, int *counts, int tokens)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens)
        atomicAdd(&counts[ids[i]], 1); // <-- uninitialized_read
}
CASE(counts_not_cleared)
{
    counts_not_cleared<<<2, 64>>>(input(100), fresh<int>(4), 100);
}

// case counts_half_cleared: uninitialized_read
__global__ void counts_half_cleared(const int *ids, int *counts, int tokens)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens)
        atomicAdd(&counts[ids[i]], 1); // <-- uninitialized_read
}
CASE(counts_half_cleared)
{
    int *counts = fresh<int>(8);
    cudaMemset(counts, 0, 8); // elements, not bytes
    counts_half_cleared<<<2, 64>>>(made<int>(100, [](size_t i) { return i % 8; }), counts, 100);
}

// case adds_to_fresh_output: uninitialized_read
__global__ void adds_to_fresh_output(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += in[i]; // <-- uninitialized_read
}
CASE(adds_to_fresh_output)
{
    adds_to_fresh_output<<<1, 64>>>(input(50), fresh<int>(50), 50);
}

// Block b reads its offset; the kernel that would have written the first one never did.
// case first_offset_missing: uninitialized_read
__global__ void totals_of_tiles(const int *in, int *offsets, int n)
{
    int b = blockIdx.x, sum = 0;
    for (int i = b * 64; i < n && i < (b + 1) * 64; ++i)
        sum += in[i];
    offsets[b + 1] = sum;
}
__global__ void first_offset_missing(const int *offsets, int *out)
{
    out[blockIdx.x] = offsets[blockIdx.x]; // <-- uninitialized_read
}
CASE(first_offset_missing)
{
    int *offsets = fresh<int>(5);
    totals_of_tiles<<<4, 1>>>(input(256), offsets, 256);
    first_offset_missing<<<4, 1>>>(offsets, fresh<int>(4));
}

// case count_never_written: uninitialized_read
__global__ void count_never_written(const float *in, const int *count, float *out)
{
    for (int i = threadIdx.x; i < *count; i += blockDim.x) // <-- uninitialized_read
        out[i] = in[i];
}
CASE(count_never_written)
{
    count_never_written<<<1, 32>>>(zeros<float>(32), fresh<int>(1), fresh<float>(32));
}

// case done_counter: uninitialized_read
__global__ void done_counter(int *sums, unsigned *done)
{
    sums[blockIdx.x] = 1;
    __threadfence();
    if (atomicAdd(done, 1) == gridDim.x - 1) // <-- uninitialized_read
        *done = 0;
}
CASE(done_counter)
{
    done_counter<<<8, 1>>>(fresh<int>(8), fresh<unsigned>(1));
}

// case shared_sum_not_cleared: uninitialized_read
__global__ void shared_sum_not_cleared(const int *in, int *out)
{
    __shared__ int sum;
    atomicAdd(&sum, in[threadIdx.x]); // <-- uninitialized_read
    __syncthreads();
    out[threadIdx.x] = sum;
}
CASE(shared_sum_not_cleared)
{
    shared_sum_not_cleared<<<1, 96>>>(input(96), fresh<int>(96));
}

// case shared_tail_not_filled: uninitialized_read
__global__ void shared_tail_not_filled(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t < n)
        s[t] = in[t];
    __syncthreads();
    for (int o = 64; o; o /= 2) {
        if (t < o)
            s[t] += s[t + o]; // <-- uninitialized_read
        __syncthreads();
    }
    if (t == 0)
        *out = s[0];
}
CASE(shared_tail_not_filled)
{
    shared_tail_not_filled<<<1, 128>>>(input(100), fresh<int>(1), 100);
}

// Used with the weight 0: right as long as it is no NaN.
// case shared_weighted_by_zero: uninitialized_read
__global__ void shared_weighted_by_zero(const float *in, float *out, float weight)
{
    __shared__ float s[64];
    out[threadIdx.x] = in[threadIdx.x] + weight * s[threadIdx.x]; // <-- uninitialized_read
}
CASE(shared_weighted_by_zero)
{
    shared_weighted_by_zero<<<1, 64>>>(zeros<float>(64), fresh<float>(64), 0.0f);
}

// case histogram_cleared_by_the_block: uninitialized_read
__global__ void histogram_cleared_by_the_block(const int *ids, int *out, int tokens, int experts)
{
    __shared__ int histogram[256];
    if (threadIdx.x < experts) // 128 threads, 200 experts
        histogram[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < tokens; i += blockDim.x)
        atomicAdd(&histogram[ids[i]], 1); // <-- uninitialized_read
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        out[e] = histogram[e];
}
CASE(histogram_cleared_by_the_block)
{
    auto id = [](size_t i) { return i % 200; };
    histogram_cleared_by_the_block<<<1, 128>>>(made<int>(1000, id), fresh<int>(200), 1000, 200);
}

// case local_partly_filled: uninitialized_read
__global__ void local_partly_filled(const int *in, int *out, int n)
{
    int kept[8];
    int count = 0;
    for (int k = 0; k < n; ++k)
        if (in[k] > 1)
            kept[count++ & 7] = in[k];
    int sum = 0;
    for (int k = 0; k < n; ++k)
        sum += kept[k & 7]; // <-- uninitialized_read
    out[threadIdx.x] = sum;
}
CASE(local_partly_filled)
{
    local_partly_filled<<<1, 32>>>(input(6), fresh<int>(32), 6);
}

// case wrong_half_of_the_double_buffer: uninitialized_read
__global__ void wrong_half_of_the_double_buffer(const int *in, int *out)
{
    __shared__ int s[2][64];
    int t = threadIdx.x;
    s[0][t] = in[t];
    __syncthreads();
    out[t] = s[1][63 - t]; // <-- uninitialized_read
}
CASE(wrong_half_of_the_double_buffer)
{
    wrong_half_of_the_double_buffer<<<1, 64>>>(input(64), fresh<int>(64));
}

// A packed state of which only one half was stored.
// case half_of_a_packed_state: uninitialized_read
__global__ void stores_flags(unsigned *halves, int n)
{
    if (threadIdx.x < n)
        halves[2 * threadIdx.x + 1] = 1;
}
__global__ void half_of_a_packed_state(unsigned long long *state, unsigned *out)
{
    unsigned long long both = atomicAdd(state + threadIdx.x, 0); // <-- uninitialized_read
    out[threadIdx.x] = static_cast<unsigned>(both);
}
CASE(half_of_a_packed_state)
{
    unsigned long long *state = fresh<unsigned long long>(32);
    stores_flags<<<1, 32>>>(reinterpret_cast<unsigned *>(state), 32);
    half_of_a_packed_state<<<1, 32>>>(state, fresh<unsigned>(32));
}

// case last_byte_of_a_row: uninitialized_read
__global__ void fills_rows(unsigned char *rows, int width, int pitch)
{
    for (int x = threadIdx.x; x < width; x += blockDim.x)
        rows[blockIdx.x * pitch + x] = 1;
}
__global__ void last_byte_of_a_row(const unsigned char *rows, int *out, int pitch)
{
    int sum = 0;
    for (int x = 0; x < pitch; ++x)
        sum += rows[blockIdx.x * pitch + x]; // <-- uninitialized_read
    out[blockIdx.x] = sum;
}
CASE(last_byte_of_a_row)
{
    unsigned char *rows = fresh<unsigned char>(4 * 64);
    fills_rows<<<4, 32>>>(rows, 63, 64);
    last_byte_of_a_row<<<4, 1>>>(rows, fresh<int>(4), 64);
}

// Copying undefined bytes is allowed and keeps them undefined.
// case copied_but_never_written: uninitialized_read
__global__ void copied_but_never_written(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x] * 2; // <-- uninitialized_read
}
CASE(copied_but_never_written)
{
    int *from = fresh<int>(64), *to = fresh<int>(64);
    cudaMemcpy(to, from, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
    copied_but_never_written<<<1, 64>>>(to, fresh<int>(64));
}

// The second block of the same slot must not see what the first one left in shared memory.
// case left_by_an_earlier_block: uninitialized_read
__global__ void left_by_an_earlier_block(const int *in, int *out)
{
    __shared__ int seeds[32];
    if (blockIdx.x == 0)
        seeds[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = seeds[31 - threadIdx.x]; // <-- uninitialized_read
}
CASE(left_by_an_earlier_block)
{
    left_by_an_earlier_block<<<600, 32>>>(input(32), fresh<int>(600 * 32));
}

// The flag shares a word with padding and was never set.
// case member_never_set: uninitialized_read
struct tagged {
    int value;
    char tag;
};
__global__ void sets_values(tagged *pairs)
{
    pairs[threadIdx.x].value = threadIdx.x;
}
__global__ void member_never_set(const tagged *pairs, int *out)
{
    tagged t = pairs[threadIdx.x]; // <-- uninitialized_read
    out[threadIdx.x] = t.tag ? t.value : 0;
}
CASE(member_never_set)
{
    tagged *pairs = fresh<tagged>(32);
    sets_values<<<1, 32>>>(pairs);
    member_never_set<<<1, 32>>>(pairs, fresh<int>(32));
}

// Compared as a word: the padding takes part.
// case padding_is_compared: uninitialized_read
struct coded {
    unsigned char code;
    unsigned short value;
};
__global__ void makes_coded(coded *all)
{
    coded c;
    c.code = 1;
    c.value = 7;
    all[threadIdx.x] = c;
}
__global__ void padding_is_compared(const unsigned *words, int *out)
{
    out[threadIdx.x] = words[threadIdx.x] == 0x70001u; // <-- uninitialized_read
}
CASE(padding_is_compared)
{
    coded *all = fresh<coded>(32);
    makes_coded<<<1, 32>>>(all);
    padding_is_compared<<<1, 32>>>(reinterpret_cast<unsigned *>(all), fresh<int>(32));
}

// Four flags in one word, of which three were written.
// case three_flags_of_four: uninitialized_read
__global__ void writes_three_flags(unsigned char *flags)
{
    for (int k = 0; k < 3; ++k)
        flags[4 * threadIdx.x + k] = 1;
}
__global__ void three_flags_of_four(const unsigned *flags, int *out)
{
    out[threadIdx.x] = __popc(flags[threadIdx.x]); // <-- uninitialized_read
}
CASE(three_flags_of_four)
{
    unsigned char *flags = fresh<unsigned char>(128);
    writes_three_flags<<<1, 32>>>(flags);
    three_flags_of_four<<<1, 32>>>(reinterpret_cast<unsigned *>(flags), fresh<int>(32));
}

// case bytes_never_written: uninitialized_read
__global__ void bytes_never_written(const unsigned char *in, unsigned char *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // <-- uninitialized_read
}
CASE(bytes_never_written)
{
    bytes_never_written<<<1, 64>>>(fresh<unsigned char>(64), fresh<unsigned char>(64));
}

// case row_of_bytes_copied: uninitialized_read
__global__ void row_of_bytes_copied(unsigned char *rows, int *out)
{
    __shared__ unsigned char row[64];
    int t = threadIdx.x;
    if (t < 63)
        row[t] = t;
    __syncthreads();
    rows[t] = row[t]; // <-- uninitialized_read
    out[t] = t;
}
CASE(row_of_bytes_copied)
{
    row_of_bytes_copied<<<1, 64>>>(fresh<unsigned char>(64), fresh<int>(64));
}

// Halfwords were written, words are read.
// case every_second_halfword: uninitialized_read
// says: of which nobody wrote some
__global__ void writes_halfwords(const int *in, short *out)
{
    out[2 * threadIdx.x] = static_cast<short>(in[threadIdx.x]);
}
__global__ void every_second_halfword(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x] + 1; // <-- uninitialized_read
}
CASE(every_second_halfword)
{
    int *words = fresh<int>(32);
    writes_halfwords<<<1, 32>>>(input(32), reinterpret_cast<short *>(words));
    every_second_halfword<<<1, 32>>>(words, fresh<int>(32));
}

// case heap_never_written: uninitialized_read
__global__ void heap_never_written(int *out, int n)
{
    int *list = new int[n];
    out[threadIdx.x] = list[threadIdx.x % n]; // <-- uninitialized_read
    delete[] list;
}
CASE(heap_never_written)
{
    heap_never_written<<<1, 32>>>(fresh<int>(32), 4);
}
