// What ncu and the CPU device both count: kernels with one kind of access each, or a reference.
//   nvcc ... -DREFERENCE='"reference/<problem>/<file>.cu"' -DPROBLEM=1|2|3 tests/gpu/costs.cu
//   nvcc ... tests/gpu/costs.cu
// ncu_compare.sh builds and runs both.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("%s: %s\n", #call, cudaGetErrorString(error));                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

template <typename T> static T *device_array(const std::vector<T> &from)
{
    T *to;
    CHECK(cudaMalloc(&to, from.size() * sizeof(T)));
    CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

#ifdef REFERENCE
#include REFERENCE

int main()
{
    const int n = 1 << 20;
    unsigned state = 1;
    auto draw = [&]() { return (state = state * 1664525u + 1013904223u) >> 8; };
    const size_t workspace_bytes = (size_t(4) * (n / 256) + 1024 + 255) / 256 * 256;
    void *workspace;
    CHECK(cudaMalloc(&workspace, workspace_bytes));
    std::vector<int> zeros(n);
    int *out = device_array(zeros);
#if PROBLEM == 1
    std::vector<int> values(n);
    for (int &v : values)
        v = int(draw() % 19) - 9;
    exclusive_scan(device_array(values), out, n, workspace, workspace_bytes, 0);
#elif PROBLEM == 2
    std::vector<float> values(n);
    for (float &v : values)
        v = float(int(draw() % 19) - 9);
    int *count = device_array(std::vector<int>(1));
    compact_positive(device_array(values), reinterpret_cast<float *>(out), count, n, workspace,
                     workspace_bytes, 0);
#else
    const int tokens = 32768, top_k = 2, experts = 64; // few enough blocks for any card
    std::vector<int> ids(size_t(tokens) * top_k);
    for (int &id : ids)
        id = int(draw() % experts);
    moe_counts_offsets(device_array(ids), out, out + experts, tokens, top_k, experts, 0);
#endif
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}

#else

constexpr int kTimes = 64, kBlocks = 16, kWarp = 32;

// Every kernel repeats one access kTimes times in one warp per block.
#define REPEAT for (int k = 0; k < kTimes; k++)

template <int STEP> __global__ void global_words(volatile int *in, int *out)
{
    int sum = 0;
#pragma unroll 1
    REPEAT sum += in[k * 4096 + threadIdx.x * STEP];
    out[blockIdx.x * kWarp + threadIdx.x] = sum;
}

template <int SHIFT> __global__ void global_shifted(volatile int *in, int *out)
{
    int sum = 0;
#pragma unroll 1
    REPEAT sum += in[k * 4096 + threadIdx.x + SHIFT];
    out[blockIdx.x * kWarp + threadIdx.x] = sum;
}

__global__ void global_vectors(const int4 *in, int4 *out)
{
#pragma unroll 1
    REPEAT out[(blockIdx.x * kTimes + k) * kWarp + threadIdx.x] = in[k * kWarp + threadIdx.x];
}

template <typename T, int STEP, int MASK> __global__ void shared_loads(int *out)
{
    extern __shared__ long long words[];
    volatile T *s = reinterpret_cast<T *>(words);
    const int at = (threadIdx.x & MASK) * STEP;
    s[at] = T(0);
    __syncthreads();
    T sum = 0;
#pragma unroll 1
    REPEAT sum += s[at];
    out[blockIdx.x * kWarp + threadIdx.x] = int(sum);
}

template <typename T, int STEP> __global__ void shared_stores(int *out)
{
    extern __shared__ long long words[];
    volatile T *s = reinterpret_cast<T *>(words);
#pragma unroll 1
    REPEAT s[threadIdx.x * STEP] = T(k);
    out[blockIdx.x * kWarp + threadIdx.x] = int(s[threadIdx.x * STEP]);
}

// The first `LANES` lanes only.
template <typename T, int STEP, int LANES> __global__ void shared_some(int *out)
{
    extern __shared__ long long words[];
    volatile T *s = reinterpret_cast<T *>(words);
    T sum = 0;
    s[threadIdx.x * STEP] = T(0);
    if (threadIdx.x < LANES) {
#pragma unroll 1
        REPEAT sum += s[threadIdx.x * STEP];
    }
    out[blockIdx.x * kWarp + threadIdx.x] = int(sum);
}

template <int STEP> __global__ void shared_vectors(int4 *out)
{
    extern __shared__ int4 vectors[];
    int4 sum = make_int4(0, 0, 0, 0);
    vectors[threadIdx.x * STEP] = sum;
#pragma unroll 1
    REPEAT
    {
        int x, y, z, w;
        unsigned at = unsigned(__cvta_generic_to_shared(&vectors[threadIdx.x * STEP]));
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(at));
        sum.x += x, sum.y += y, sum.z += z, sum.w += w;
    }
    out[blockIdx.x * kWarp + threadIdx.x] = sum;
}

template <int MASK> __global__ void shared_atomics(int *out)
{
    __shared__ int s[32];
    s[threadIdx.x] = 0;
    __syncthreads();
    int last = 0;
#pragma unroll 1
    REPEAT last += atomicAdd(&s[threadIdx.x & MASK], 1);
    out[blockIdx.x * kWarp + threadIdx.x] = last;
}

// Nobody reads what the atomics give.
template <int MASK> __global__ void shared_counts(int *out)
{
    __shared__ int s[32];
    s[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    REPEAT atomicAdd(&s[threadIdx.x & MASK], 1);
    __syncthreads();
    out[blockIdx.x * kWarp + threadIdx.x] = s[threadIdx.x];
}

template <int MASK> __global__ void shared_sums(int *out)
{
    __shared__ int s[32];
    s[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    REPEAT atomicAdd(&s[threadIdx.x & MASK], k);
    __syncthreads();
    out[blockIdx.x * kWarp + threadIdx.x] = s[threadIdx.x];
}

template <int MASK> __global__ void global_atomics(int *to, int *out)
{
    int last = 0;
#pragma unroll 1
    REPEAT last += atomicAdd(&to[threadIdx.x & MASK], int(threadIdx.x));
    out[blockIdx.x * kWarp + threadIdx.x] = last;
}

template <int MASK> __global__ void global_reductions(int *to)
{
#pragma unroll 1
    REPEAT atomicAdd(&to[threadIdx.x & MASK], int(threadIdx.x));
}

template <typename... Parameters, typename... Arguments>
static void run(void (*kernel)(Parameters...), Arguments... arguments)
{
    kernel<<<kBlocks, kWarp, 32 * 33 * 8>>>(arguments...);
    CHECK(cudaGetLastError());
}

int main()
{
    int *in = device_array(std::vector<int>(kTimes * 4096 + 8192));
    int *out = device_array(std::vector<int>(kBlocks * kTimes * kWarp * 4));
    run(global_words<0>, in, out);
    run(global_words<1>, in, out);
    run(global_words<2>, in, out);
    run(global_words<32>, in, out);
    run(global_shifted<1>, in, out);
    run(global_vectors, reinterpret_cast<int4 *>(in), reinterpret_cast<int4 *>(out));
    run(shared_loads<int, 0, 31>, out);
    run(shared_loads<int, 1, 31>, out);
    run(shared_loads<int, 2, 31>, out);
    run(shared_loads<int, 32, 31>, out);
    run(shared_loads<int, 33, 31>, out);
    run(shared_loads<short, 1, 31>, out);
    run(shared_loads<long long, 1, 31>, out);
    run(shared_loads<long long, 1, 15>, out); // both halves read the same
    run(shared_loads<long long, 2, 31>, out);
    run(shared_loads<long long, 16, 31>, out);
    run(shared_loads<long long, 33, 31>, out);
    run(shared_stores<int, 1>, out);
    run(shared_stores<int, 2>, out);
    run(shared_stores<int, 32>, out);
    run(shared_stores<long long, 1>, out);
    run(shared_stores<long long, 2>, out);
    run(shared_stores<long long, 16>, out);
    run(shared_some<long long, 1, 16>, out);
    run(shared_some<long long, 2, 16>, out);
    run(shared_some<int, 2, 16>, out);
    run(shared_vectors<1>, reinterpret_cast<int4 *>(out));
    run(shared_vectors<2>, reinterpret_cast<int4 *>(out));
    run(shared_vectors<8>, reinterpret_cast<int4 *>(out));
    run(shared_atomics<31>, out);
    run(shared_atomics<3>, out);
    run(shared_atomics<0>, out);
    run(shared_counts<31>, out);
    run(shared_counts<3>, out);
    run(shared_counts<0>, out);
    run(shared_sums<3>, out);
    run(shared_sums<0>, out);
    run(global_atomics<31>, in, out);
    run(global_atomics<0>, in, out);
    run(global_reductions<31>, in);
    run(global_reductions<0>, in);
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
#endif
