// Indices outside of buffers in global memory.
#include "../faults.cuh"

#include <climits>
#include <cstdint>

// case guard_off_by_one: out_of_bounds_write
// says: element 1000 of 1000
__global__ void guard_off_by_one(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = i < n ? in[i] : 0; // <-- out_of_bounds_write
}
CASE(guard_off_by_one)
{
    guard_off_by_one<<<4, 256>>>(input(1000), fresh<int>(1000), 1000);
}

// case no_guard: out_of_bounds_read
__global__ void no_guard(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i]; // <-- out_of_bounds_read
    out[i] = v;
}
CASE(no_guard)
{
    no_guard<<<3, 256>>>(input(513), fresh<int>(768));
}

// Allocations are rounded up to 256 bytes: the slack belongs to nobody.
// case slack_of_the_allocation: out_of_bounds_read
__global__ void slack_of_the_allocation(const char *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x + 1]; // <-- out_of_bounds_read
}
CASE(slack_of_the_allocation)
{
    slack_of_the_allocation<<<1, 64>>>(zeros<char>(64), fresh<int>(64));
}

// case before_the_start: out_of_bounds_read
// says: 4 bytes before the start of a buffer of 800 bytes
__global__ void before_the_start(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int left = in[i - 1]; // <-- out_of_bounds_read
        out[i] = i > 0 ? left : 0; // the value is thrown away, the answer is right
    }
}
CASE(before_the_start)
{
    before_the_start<<<2, 128>>>(input(200), fresh<int>(200), 200);
}

// case vectors_over_the_tail: out_of_bounds_read
__global__ void vectors_over_the_tail(const int *in, int *out, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        int4 v = *reinterpret_cast<const int4 *>(in + i); // <-- out_of_bounds_read
        out[i / 4] = v.x + v.y + v.z + v.w;
    }
}
CASE(vectors_over_the_tail)
{
    vectors_over_the_tail<<<1, 32>>>(input(30), fresh<int>(8), 30);
}

// case total_behind_the_sums: out_of_bounds_write
__global__ void total_behind_the_sums(int *sums, int blocks)
{
    int run = 0;
    for (int b = 0; b < blocks; ++b) {
        run += sums[b];
        sums[b] = run;
    }
    sums[blocks] = run; // <-- out_of_bounds_write
}
CASE(total_behind_the_sums)
{
    total_behind_the_sums<<<1, 1>>>(input(37), 37);
}

// case bytes_for_elements: out_of_bounds_write
__global__ void bytes_for_elements(double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i; // <-- out_of_bounds_write
}
CASE(bytes_for_elements)
{
    double *out;
    cudaMalloc(&out, 500); // elements, not bytes
    bytes_for_elements<<<2, 256>>>(out, 500);
}

// Each row is 2^21 ints apart; row 1,024 begins at 2^31. The view has one column, so no case needs
// a buffer of that size: the wrapped index lies before it.
// case index_past_32_bits: out_of_bounds_read
// says: overflowed 32 bits
__global__ void index_past_32_bits(const int *view, int *out, int rows, int stride)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x + rows - 1;
    int index = r * stride;
    out[threadIdx.x] = view[index]; // <-- out_of_bounds_read
}
CASE(index_past_32_bits)
{
    index_past_32_bits<<<1, 1>>>(input(1024), fresh<int>(1), 1025, 1 << 21);
}

// case expert_minus_one: out_of_bounds_write
__global__ void expert_minus_one(const int *ids, int *counts, int tokens)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens)
        atomicAdd(&counts[ids[i]], 1); // <-- out_of_bounds_write
}
CASE(expert_minus_one)
{
    auto id = [](size_t i) { return i == 77 ? -1 : static_cast<int>(i % 8); };
    expert_minus_one<<<1, 128>>>(made<int>(100, id), zeros<int>(8), 100);
}

// case expert_past_the_last: out_of_bounds_write
__global__ void expert_past_the_last(const int *ids, int *counts, int tokens, int experts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens && ids[i] <= experts)
        atomicAdd(&counts[ids[i]], 1); // <-- out_of_bounds_write
}
CASE(expert_past_the_last)
{
    auto id = [](size_t i) { return i % 9; };
    expert_past_the_last<<<1, 128>>>(made<int>(100, id), zeros<int>(8), 100, 8);
}

// case expert_int_min: out_of_bounds_read
__global__ void expert_int_min(const int *ids, const int *offsets, int *out, int tokens)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens) {
        int e = abs(ids[i]);  // of INT_MIN: INT_MIN
        out[i] = offsets[e]; // <-- out_of_bounds_read
    }
}
CASE(expert_int_min)
{
    auto id = [](size_t i) { return i == 40 ? INT_MIN : static_cast<int>(i % 8); };
    expert_int_min<<<1, 64>>>(made<int>(64, id), input(8), fresh<int>(64), 64);
}

// case offset_of_the_last_expert: out_of_bounds_read
__global__ void offset_of_the_last_expert(const int *offsets, int *sizes, int experts)
{
    int e = threadIdx.x;
    if (e < experts)
        sizes[e] = offsets[e + 1] - offsets[e]; // <-- out_of_bounds_read
}
CASE(offset_of_the_last_expert)
{
    offset_of_the_last_expert<<<1, 64>>>(input(33), fresh<int>(33), 33);
}

// case freed_before_use: use_after_free
__global__ void freed_before_use(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // <-- use_after_free
}
CASE(freed_before_use)
{
    int *in = input(32);
    cudaFree(in);
    freed_before_use<<<1, 32>>>(in, fresh<int>(32));
}

// case null_output: null_pointer
__global__ void null_output(const int *in, int *count)
{
    if (threadIdx.x == 31)
        *count = in[31]; // <-- null_pointer
}
CASE(null_output)
{
    null_output<<<1, 32>>>(input(32), nullptr);
}

// case null_with_an_index: null_pointer
__global__ void null_with_an_index(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x + 100]; // <-- null_pointer
}
CASE(null_with_an_index)
{
    null_with_an_index<<<1, 32>>>(nullptr, fresh<int>(32));
}

// case pointer_of_the_host: host_pointer
__global__ void pointer_of_the_host(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // <-- host_pointer
}
CASE(pointer_of_the_host)
{
    static int host[32];
    pointer_of_the_host<<<1, 32>>>(host, fresh<int>(32));
}

// The pointer to the structure is one of the host's, its members are not.
// case structure_on_the_host: host_pointer
struct task {
    const int *in;
    int *out;
};
__global__ void structure_on_the_host(const task *t)
{
    t->out[threadIdx.x] = t->in[threadIdx.x]; // <-- host_pointer
}
CASE(structure_on_the_host)
{
    task t{input(32), fresh<int>(32)};
    structure_on_the_host<<<1, 32>>>(&t);
}

// case unaligned_int4: misaligned
__global__ void unaligned_int4(const int *in, int4 *out)
{
    out[threadIdx.x] = reinterpret_cast<const int4 *>(in)[threadIdx.x]; // <-- misaligned
}
CASE(unaligned_int4)
{
    unaligned_int4<<<1, 32>>>(input(132) + 1, fresh<int4>(32));
}

// case pairs_from_odd_indices: misaligned
__global__ void pairs_from_odd_indices(const int *in, long long *out, int n)
{
    int i = threadIdx.x;
    if (i + 1 < n)
        out[i] = *reinterpret_cast<const long long *>(in + i); // <-- misaligned
}
CASE(pairs_from_odd_indices)
{
    pairs_from_odd_indices<<<1, 32>>>(input(32), fresh<long long>(32), 32);
}

// case counter_in_packed_bytes: misaligned
__global__ void counter_in_packed_bytes(unsigned char *raw)
{
    int *counter = reinterpret_cast<int *>(raw + 13);
    atomicAdd(counter, 1); // <-- misaligned
}
CASE(counter_in_packed_bytes)
{
    counter_in_packed_bytes<<<1, 1>>>(zeros<unsigned char>(64));
}

// case constant_is_written: read_only_write
__constant__ int table[8];
__global__ void constant_is_written(int *where)
{
    where[threadIdx.x] = table[0] + 1; // <-- read_only_write
}
CASE(constant_is_written)
{
    void *where;
    cudaGetSymbolAddress(&where, table);
    constant_is_written<<<1, 8>>>(static_cast<int *>(where));
}

// case out_of_a_device_array: out_of_bounds_read
__device__ int weights[16];
__global__ void out_of_a_device_array(int *out)
{
    out[threadIdx.x] = weights[threadIdx.x]; // <-- out_of_bounds_read
}
CASE(out_of_a_device_array)
{
    out_of_a_device_array<<<1, 32>>>(fresh<int>(32));
}

// case flags_as_ints: out_of_bounds_read
__global__ void flags_as_ints(const int *flags, int *count, int n)
{
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += flags[i]; // <-- out_of_bounds_read
    atomicAdd(count, sum);
}
CASE(flags_as_ints)
{
    flags_as_ints<<<1, 32>>>(reinterpret_cast<int *>(zeros<char>(256)), zeros<int>(1), 256);
}

// Kept elements may be as many as n; the buffer was made for half of them.
// case more_kept_than_expected: out_of_bounds_write
__global__ void more_kept_than_expected(const int *in, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        out[atomicAdd(count, 1)] = in[i]; // <-- out_of_bounds_write
}
CASE(more_kept_than_expected)
{
    more_kept_than_expected<<<4, 64>>>(input(200), fresh<int>(100), zeros<int>(1), 200);
}

// case out_of_a_constant_array: out_of_bounds_read
__constant__ int first_table[8], second_table[8];
__global__ void out_of_a_constant_array(int *out)
{
    out[threadIdx.x] = first_table[threadIdx.x] + second_table[0]; // <-- out_of_bounds_read
}
CASE(out_of_a_constant_array)
{
    out_of_a_constant_array<<<1, 32>>>(fresh<int>(32));
}

// case last_vector_stored: out_of_bounds_write
__global__ void last_vector_stored(float4 *out, int n)
{
    int i = threadIdx.x;
    if (4 * i < n)
        out[i] = make_float4(1, 2, 3, 4); // <-- out_of_bounds_write
}
CASE(last_vector_stored)
{
    last_vector_stored<<<1, 32>>>(reinterpret_cast<float4 *>(fresh<float>(30)), 30);
}

// case array_in_the_parameters: out_of_bounds_read
struct parameters {
    int bases[4];
};
__global__ void array_in_the_parameters(parameters p, int *out)
{
    out[threadIdx.x] = p.bases[threadIdx.x]; // <-- out_of_bounds_read
}
CASE(array_in_the_parameters)
{
    array_in_the_parameters<<<1, 32>>>(parameters{{1, 2, 3, 4}}, fresh<int>(32));
}

// case heap_of_the_device: out_of_bounds_write
__global__ void heap_of_the_device(int *out, int n)
{
    int *list = new int[n];
    for (int k = 0; k <= n; ++k)
        list[k] = k; // <-- out_of_bounds_write
    out[threadIdx.x] = list[n - 1];
    delete[] list;
}
CASE(heap_of_the_device)
{
    heap_of_the_device<<<1, 32>>>(fresh<int>(32), 4);
}

// case deleted_before_use: use_after_free
__global__ void deleted_before_use(const int *in, int *out, int n)
{
    int *list = new int[n];
    for (int k = 0; k < n; ++k)
        list[k] = in[k];
    delete[] list;
    out[threadIdx.x] = list[threadIdx.x % n]; // <-- use_after_free
}
CASE(deleted_before_use)
{
    deleted_before_use<<<1, 32>>>(input(4), fresh<int>(32), 4);
}

// case pinned_memory_freed: use_after_free
// says: of freed memory: a buffer of 128 bytes
__global__ void pinned_memory_freed(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // <-- use_after_free
}
CASE(pinned_memory_freed)
{
    int *pinned;
    cudaMallocHost(&pinned, 32 * sizeof(int));
    cudaFreeHost(pinned);
    pinned_memory_freed<<<1, 32>>>(pinned, fresh<int>(32));
}

// case freed_twice_in_a_kernel: use_after_free
// says: freed before
__global__ void freed_twice_in_a_kernel(int *out)
{
    int *list = static_cast<int *>(malloc(4 * sizeof(int)));
    if (!list)
        return;
    list[threadIdx.x % 4] = 1;
    out[threadIdx.x] = list[threadIdx.x % 4];
    free(list);
    if (out[threadIdx.x] == 1)
        free(list); // <-- use_after_free
}
CASE(freed_twice_in_a_kernel)
{
    freed_twice_in_a_kernel<<<1, 32>>>(fresh<int>(32));
}

// case memory_of_the_host_freed_in_a_kernel: cuda_error
// says: memory that the host allocated
__global__ void memory_of_the_host_freed_in_a_kernel(int *list)
{
    if (threadIdx.x == 0)
        free(list); // <-- cuda_error
}
CASE(memory_of_the_host_freed_in_a_kernel)
{
    memory_of_the_host_freed_in_a_kernel<<<1, 32>>>(zeros<int>(32));
}
