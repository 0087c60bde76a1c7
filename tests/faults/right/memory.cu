// What looks like an access out of bounds or of undefined bytes, and is none.
#include "../faults.cuh"

#include <climits>
#include <cstdint>
#include <cuda_fp16.h>

// Structures with padding are copied in words; nobody looks at the padding.
struct tagged { // 8 bytes, 3 of them padding
    int value;
    char tag;
};
struct entry { // 12 bytes, 1 + 3 of them padding
    char kind;
    short weight;
    int value;
    char flag;
};
struct __align__(16) wide { // 16 bytes, 7 of them padding
    double value;
    char tag;
};

// case padding_of_8_bytes: clean
__global__ void padding_of_8_bytes(const int *in, tagged *first, tagged *second, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    tagged t;
    t.value = in[i];
    t.tag = static_cast<char>(i);
    first[i] = t;
    second[n - 1 - i] = first[i];
    tagged other = second[n - 1 - i];
    out[i] = other.value + other.tag;
}
CASE(padding_of_8_bytes)
{
    int *out = fresh<int>(100);
    padding_of_8_bytes<<<1, 128>>>(input(100), fresh<tagged>(100), fresh<tagged>(100), out, 100);
    expect(out, 100, [](size_t i) { return i % 3 + 1 + i; });
}

// case padding_between_kernels: clean
__global__ void makes_entries(const int *in, entry *entries)
{
    entry e;
    e.kind = 1;
    e.weight = static_cast<short>(in[threadIdx.x]);
    e.value = threadIdx.x;
    e.flag = 2;
    entries[threadIdx.x] = e;
}
__global__ void padding_between_kernels(const entry *entries, entry *copy, int *out)
{
    entry e = entries[63 - threadIdx.x];
    copy[threadIdx.x] = e;
    out[threadIdx.x] = e.kind + e.weight + e.value + e.flag;
}
CASE(padding_between_kernels)
{
    entry *entries = fresh<entry>(64);
    int *out = fresh<int>(64);
    makes_entries<<<1, 64>>>(input(64), entries);
    padding_between_kernels<<<1, 64>>>(entries, fresh<entry>(64), out);
    expect(out, 64, [](size_t i) { return 3 + (63 - i) % 3 + 1 + 63 - i; });
}

// case padding_through_shuffles: clean
__global__ void padding_through_shuffles(const int *in, tagged *pairs, int *out)
{
    int t = threadIdx.x;
    pairs[t].value = in[t];
    pairs[t].tag = 1;
    unsigned long long word = *reinterpret_cast<unsigned long long *>(&pairs[t]);
    word = __shfl_xor_sync(FULL, word, 1);
    out[t] = static_cast<int>(word) + static_cast<char>(word >> 32);
}
CASE(padding_through_shuffles)
{
    int *out = fresh<int>(32);
    padding_through_shuffles<<<1, 32>>>(input(32), fresh<tagged>(32), out);
    expect(out, 32, [](size_t i) { return (i ^ 1) % 3 + 2; });
}

// case padding_of_16_bytes: clean
__global__ void padding_of_16_bytes(const double *in, wide *out, int *sums)
{
    __shared__ wide s[32];
    int t = threadIdx.x;
    wide w;
    w.value = in[t];
    w.tag = 5;
    s[t] = w;
    __syncthreads();
    out[t] = s[31 - t];
    sums[t] = static_cast<int>(out[t].value) + out[t].tag;
}
CASE(padding_of_16_bytes)
{
    int *sums = fresh<int>(32);
    padding_of_16_bytes<<<1, 32>>>(made<double>(32, [](size_t i) { return i; }), fresh<wide>(32),
                                   sums);
    expect(sums, 32, [](size_t i) { return 36 - i; });
}

// case padding_in_local_memory: clean
__global__ void padding_in_local_memory(const int *in, entry *out, int n)
{
    entry mine[4];
    for (int k = 0; k < n; ++k) {
        mine[k & 3].kind = 1;
        mine[k & 3].weight = 2;
        mine[k & 3].value = in[k];
        mine[k & 3].flag = 3;
    }
    out[threadIdx.x] = mine[(threadIdx.x + n) & 3];
}
CASE(padding_in_local_memory)
{
    entry *out = fresh<entry>(32);
    padding_in_local_memory<<<1, 32>>>(input(4), out, 4);
}

// case bit_fields: clean
struct fields {
    unsigned a : 5, b : 11;
    unsigned char c;
};
__global__ void bit_fields(const int *in, fields *out, int *sums)
{
    __shared__ fields s[32];
    int t = threadIdx.x;
    fields f;
    f.a = in[t];
    f.b = 100;
    f.c = 7;
    s[t] = f;
    __syncthreads();
    out[t] = s[t ^ 1];
    sums[t] = s[t ^ 1].a + s[t ^ 1].b + s[t ^ 1].c;
}
CASE(bit_fields)
{
    int *sums = fresh<int>(32);
    bit_fields<<<1, 32>>>(input(32), fresh<fields>(32), sums);
    expect(sums, 32, [](size_t i) { return (i ^ 1) % 3 + 108; });
}

// Undefined bytes may be copied as long as nobody uses them.
// case tail_is_copied: clean
__global__ void first_half(int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2)
        to[i] = i;
}
__global__ void reads_the_first_half(const int *from, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2)
        out[i] = from[i] + 1;
}
CASE(tail_is_copied)
{
    int *a = fresh<int>(200), *b = fresh<int>(200), *out = fresh<int>(100);
    first_half<<<1, 128>>>(a, 200);
    cudaMemcpyAsync(b, a, 200 * sizeof(int), cudaMemcpyDeviceToDevice);
    reads_the_first_half<<<1, 128>>>(b, out, 200);
    expect(out, 100, [](size_t i) { return i + 1; });
}

// Vectors where the address allows it, single elements before and behind.
// case vectors_between_the_edges: clean
__global__ void vectors_between_the_edges(const int *in, int *out, int n)
{
    int first = static_cast<int>(-(reinterpret_cast<uintptr_t>(in) / 4) & 3), t = threadIdx.x;
    int vectors = (n - first) / 4, sum = 0;
    for (int i = t; i < vectors; i += blockDim.x) {
        int4 v = *reinterpret_cast<const int4 *>(in + first + 4 * i);
        sum += v.x + v.y + v.z + v.w;
    }
    for (int i = t; i < first; i += blockDim.x)
        sum += in[i];
    for (int i = first + 4 * vectors + t; i < n; i += blockDim.x)
        sum += in[i];
    atomicAdd(out, sum);
}
CASE(vectors_between_the_edges)
{
    int *sum = zeros<int>(1);
    vectors_between_the_edges<<<1, 64>>>(input(334) + 3, sum, 331);
    expect(sum, 1, [](size_t) { return input_sum(331); });
}

// case last_element_exactly: clean
__global__ void last_element_exactly(const char *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}
CASE(last_element_exactly)
{
    double *out = fresh<double>(257);
    last_element_exactly<<<3, 96>>>(made<char>(257, [](size_t i) { return i % 100; }), out, 257);
    expect(out, 257, [](size_t i) { return (256 - i) % 100; });
}

// The index is negative, the pointer stands in the middle.
// case negative_index_in_bounds: clean
__global__ void negative_index_in_bounds(const int *middle, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, *centre = s + 32;
    centre[t - 32] = middle[t - 32];
    __syncthreads();
    out[t] = centre[31 - t];
}
CASE(negative_index_in_bounds)
{
    int *out = fresh<int>(64);
    negative_index_in_bounds<<<1, 64>>>(input(64) + 32, out);
    expect(out, 64, [](size_t i) { return (63 - i) % 3 + 1; });
}

// Invalid ids are looked at and left out.
// case invalid_ids_left_out: clean
__global__ void invalid_ids_left_out(const int *ids, int *counts, int tokens, int experts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens && static_cast<unsigned>(ids[i]) < static_cast<unsigned>(experts))
        atomicAdd(&counts[ids[i]], 1);
}
CASE(invalid_ids_left_out)
{
    const int ids[] = {-1, 8, INT_MIN, INT_MAX, 0, 7, 3};
    int *counts = zeros<int>(8);
    invalid_ids_left_out<<<1, 128>>>(made<int>(70, [&](size_t i) { return ids[i % 7]; }), counts,
                                     70, 8);
    expect(counts, 8, [](size_t i) { return i == 0 || i == 3 || i == 7 ? 10 : 0; });
}

// case shared_to_its_last_byte: clean
__global__ void shared_to_its_last_byte(int *out)
{
    __shared__ unsigned char bytes[1000];
    extern __shared__ short halves[];
    for (int i = threadIdx.x; i < 1000; i += blockDim.x)
        bytes[i] = 1;
    for (int i = threadIdx.x; i < 501; i += blockDim.x)
        halves[i] = 2;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = bytes[999] + halves[500];
}
CASE(shared_to_its_last_byte)
{
    int *out = fresh<int>(1);
    shared_to_its_last_byte<<<1, 64, 1002>>>(out);
    expect(out, 1, [](size_t) { return 3; });
}

// Written through one type, read through another, every byte of it.
// case other_types: clean
__global__ void other_types(unsigned *raw, int *out)
{
    int t = threadIdx.x;
    raw[t] = 0x3c003c00u; // two halves of 1.0
    __syncwarp();
    const __half *halves = reinterpret_cast<const __half *>(raw);
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(raw);
    out[t] = static_cast<int>(__half2float(halves[2 * (31 - t)])) + bytes[4 * (31 - t) + 1];
}
CASE(other_types)
{
    int *out = fresh<int>(32);
    other_types<<<1, 32>>>(fresh<unsigned>(32), out);
    expect(out, 32, [](size_t) { return 61; });
}

// Memory in all its kinds, passed by a structure.
// case every_kind_of_memory: clean
__constant__ int factors[4] = {1, 10, 100, 1000};
__device__ int totals[4];
struct buffers {
    const int *pinned, *managed;
    int *out;
};
__global__ void every_kind_of_memory(buffers b, int n)
{
    int t = threadIdx.x;
    int local[4];
    for (int k = 0; k < n; ++k)
        local[k & 3] = factors[k & 3];
    totals[t] = local[t] * b.pinned[t] + b.managed[t];
    b.out[t] = totals[t];
}
CASE(every_kind_of_memory)
{
    int *pinned, *managed, *out = fresh<int>(4);
    cudaMallocHost(&pinned, 4 * sizeof(int));
    cudaMallocManaged(&managed, 4 * sizeof(int));
    for (int i = 0; i < 4; ++i)
        pinned[i] = managed[i] = i + 1;
    every_kind_of_memory<<<1, 4>>>({pinned, managed, out}, 4);
    const int factor[] = {1, 10, 100, 1000};
    expect(out, 4, [&](size_t i) { return (factor[i] + 1) * (i + 1); });
}

// No elements, no launch; one element; freed and allocated again.
// case sizes_at_the_edge: clean
__global__ void sizes_at_the_edge(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + (i > 0 ? in[i - 1] : 0);
}
CASE(sizes_at_the_edge)
{
    for (int n : {0, 1, 31, 32, 33, 255, 256, 257}) {
        int *in = input(n + 1), *out = fresh<int>(n + 1);
        if (n)
            sizes_at_the_edge<<<(n + 255) / 256, 256>>>(in, out, n);
        expect(out, n, [](size_t i) { return i % 3 + 1 + (i ? (i - 1) % 3 + 1 : 0); });
        cudaFree(in);
        cudaFree(out);
    }
}
