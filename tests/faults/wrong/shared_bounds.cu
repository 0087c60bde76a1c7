// Indices outside of arrays in shared and local memory.
#include "../faults.cuh"

// case dynamic_too_small: out_of_bounds_write
// says: the shared array `dynamic`, which has 1020 bytes in this launch: element 255 of 255
__global__ void dynamic_too_small(const int *in, int *out)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = in[threadIdx.x]; // <-- out_of_bounds_write
    __syncthreads();
    out[threadIdx.x] = dynamic[threadIdx.x ^ 1];
}
CASE(dynamic_too_small)
{
    dynamic_too_small<<<1, 256, 255 * sizeof(int)>>>(input(256), fresh<int>(256));
}

// The bytes were forgotten: 256, not 256 * 4.
// case dynamic_in_elements: out_of_bounds_write
__global__ void dynamic_in_elements(const double *in, double *out)
{
    extern __shared__ double doubles[];
    doubles[threadIdx.x] = in[threadIdx.x]; // <-- out_of_bounds_write
    __syncthreads();
    out[threadIdx.x] = doubles[blockDim.x - 1 - threadIdx.x];
}
CASE(dynamic_in_elements)
{
    dynamic_in_elements<<<1, 64, 64>>>(zeros<double>(64), fresh<double>(64));
}

// case no_dynamic_at_all: out_of_bounds_write
__global__ void no_dynamic_at_all(int *out)
{
    extern __shared__ int forgotten[];
    forgotten[threadIdx.x] = 1; // <-- out_of_bounds_write
    __syncthreads();
    out[threadIdx.x] = forgotten[threadIdx.x];
}
CASE(no_dynamic_at_all)
{
    no_dynamic_at_all<<<1, 32>>>(fresh<int>(32));
}

// The write lands in the next array; the answer is right.
// case into_the_neighbour: out_of_bounds_write
__global__ void into_the_neighbour(const int *in, int *out, int last)
{
    __shared__ int a[128];
    __shared__ int b[128];
    a[threadIdx.x] = in[threadIdx.x];
    b[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        a[last] = 0; // <-- out_of_bounds_write
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x] + b[127 - threadIdx.x];
}
CASE(into_the_neighbour)
{
    into_the_neighbour<<<1, 128>>>(input(128), fresh<int>(128), 128);
}

// case read_past_the_end: out_of_bounds_read
__global__ void read_past_the_end(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    int right = s[t + 1]; // <-- out_of_bounds_read
    out[t] = t < 255 ? right : 0;
}
CASE(read_past_the_end)
{
    read_past_the_end<<<1, 256>>>(input(256), fresh<int>(256));
}

// case read_before_the_start: out_of_bounds_read
// says: 4 bytes before the start of `s`
__global__ void read_before_the_start(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    int left = s[t - 1]; // <-- out_of_bounds_read
    out[t] = t > 0 ? left : 0;
}
CASE(read_before_the_start)
{
    read_before_the_start<<<1, 256>>>(input(256), fresh<int>(256));
}

// An id of -1 is no expert: -1 / 32 == 0, -1 % 32 == -1.
// case expert_minus_one_by_rows: out_of_bounds_write
__global__ void expert_minus_one_by_rows(const int *ids, int *out, int tokens)
{
    __shared__ int counts[4][32];
    for (int e = threadIdx.x; e < 128; e += blockDim.x)
        counts[e / 32][e % 32] = 0;
    __syncthreads();
    if (threadIdx.x < tokens) {
        int e = ids[threadIdx.x];
        if (e / 32 >= 0 && e / 32 < 4)
            atomicAdd(&counts[e / 32][e % 32], 1); // <-- out_of_bounds_write
    }
    __syncthreads();
    out[threadIdx.x] = counts[threadIdx.x / 32][threadIdx.x % 32];
}
CASE(expert_minus_one_by_rows)
{
    auto id = [](size_t i) { return i == 50 ? -1 : static_cast<int>(i); };
    expert_minus_one_by_rows<<<1, 128>>>(made<int>(100, id), fresh<int>(128), 100);
}

// Sized by the threads, indexed by the expert.
// case sized_by_the_block: out_of_bounds_write
__global__ void sized_by_the_block(const int *ids, int *out, int tokens, int experts)
{
    extern __shared__ int histogram[];
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        histogram[e] = 0; // <-- out_of_bounds_write
    __syncthreads();
    for (int i = threadIdx.x; i < tokens; i += blockDim.x)
        atomicAdd(&histogram[ids[i]], 1);
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        out[e] = histogram[e];
}
CASE(sized_by_the_block)
{
    auto id = [](size_t i) { return i % 65; };
    sized_by_the_block<<<1, 64, 64 * sizeof(int)>>>(made<int>(500, id), fresh<int>(65), 500, 65);
}

// case thirty_three_warps: out_of_bounds_write
__global__ void thirty_three_warps(const int *in, int *out)
{
    __shared__ int totals[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = in[threadIdx.x];
    for (int o = 16; o; o /= 2)
        v += __shfl_down_sync(FULL, v, o);
    if (lane == 0)
        totals[warp] = v; // <-- out_of_bounds_write
    __syncthreads();
    if (threadIdx.x < 8)
        out[threadIdx.x] = totals[threadIdx.x];
}
CASE(thirty_three_warps)
{
    thirty_three_warps<<<1, 288>>>(input(288), fresh<int>(8));
}

// case bytes_past_the_end: out_of_bounds_write
__global__ void bytes_past_the_end(const int *in, int *out)
{
    __shared__ unsigned char flags[250];
    int t = threadIdx.x;
    flags[t] = in[t] > 1; // <-- out_of_bounds_write
    __syncthreads();
    out[t] = flags[t / 2];
}
CASE(bytes_past_the_end)
{
    bytes_past_the_end<<<1, 256>>>(input(256), fresh<int>(256));
}

// case row_of_the_transpose: out_of_bounds_write
__global__ void row_of_the_transpose(const int *in, int *out)
{
    __shared__ int tile[31][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[y + k][x] = in[(y + k) * 32 + x]; // <-- out_of_bounds_write
    __syncthreads();
    for (int k = 0; k < 31; k += 8)
        if (y + k < 31)
            out[x * 32 + y + k] = tile[y + k][x];
}
CASE(row_of_the_transpose)
{
    row_of_the_transpose<<<1, dim3(32, 8)>>>(input(1024), fresh<int>(1024));
}

// case through_a_generic_pointer: out_of_bounds_write
__device__ __noinline__ void store_at(int *where, int index, int value)
{
    where[index] = value; // <-- out_of_bounds_write
}
__global__ void through_a_generic_pointer(int *out, int length)
{
    __shared__ int s[64];
    if (threadIdx.x < 64)
        s[threadIdx.x] = 0;
    __syncthreads();
    store_at(s, threadIdx.x + length - 64, 1);
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
CASE(through_a_generic_pointer)
{
    through_a_generic_pointer<<<1, 64>>>(fresh<int>(64), 66);
}

// case local_array_overrun: out_of_bounds_write
// says: local arrays, which have 16 bytes: element 4 of 4
__global__ void local_array_overrun(const int *in, int *out, int items)
{
    int kept[4];
    for (int k = 0; k <= items; ++k)
        kept[k] = in[threadIdx.x * 4 + (k & 3)]; // <-- out_of_bounds_write
    int sum = 0;
    for (int k = 0; k < items; ++k)
        sum += kept[k];
    out[threadIdx.x] = sum;
}
CASE(local_array_overrun)
{
    local_array_overrun<<<1, 32>>>(input(128), fresh<int>(32), 4);
}

// case local_index_negative: out_of_bounds_read
// says: 4 bytes before the start of the thread's local arrays
__global__ void local_index_negative(const int *in, int *out, int n)
{
    int window[8];
    for (int k = 0; k < n; ++k)
        window[k & 7] = in[k & 7];
    out[threadIdx.x] = window[(static_cast<int>(threadIdx.x) - 1) % 8]; // <-- out_of_bounds_read
}
CASE(local_index_negative)
{
    local_index_negative<<<1, 8>>>(input(8), fresh<int>(8), 8);
}

// case two_dynamic_arrays: out_of_bounds_write
__global__ void two_dynamic_arrays(const int *in, int *out, int n)
{
    extern __shared__ int both[];
    int *keys = both, *ranks = both + n;
    int t = threadIdx.x;
    keys[t] = in[t];
    ranks[t] = 0; // <-- out_of_bounds_write
    __syncthreads();
    for (int k = 0; k < n; ++k)
        ranks[t] += keys[k] < keys[t];
    out[t] = ranks[t];
}
CASE(two_dynamic_arrays)
{
    two_dynamic_arrays<<<1, 96, 96 * sizeof(int)>>>(input(96), fresh<int>(96), 96);
}
