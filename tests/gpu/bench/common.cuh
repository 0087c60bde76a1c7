// What the benches of the references share: each is one stand-alone program that holds a reference
// against the best library route and against a plain copy, on a card, as timing.md of the design
// asks.
//
//   nvcc -O3 -std=c++17 -arch=native scan_bench.cu -o scan_bench && ./scan_bench
//
// A contender is timed call by call: outputs poisoned, 256 MB written (so the second-level cache is
// cold and full of dirty lines), start event, call, stop event; then its output is checked. The
// contenders of a row take turns, and what is compared is medians of one row.
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t check_error = (call);                                                          \
        if (check_error != cudaSuccess) {                                                          \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                     \
                         cudaGetErrorString(check_error));                                         \
            std::exit(3);                                                                          \
        }                                                                                          \
    } while (0)

namespace bench
{

// ---- memory ------------------------------------------------------------------------------------

template <class T> struct device_array {
    T *data = nullptr;
    size_t count = 0;

    explicit device_array(size_t n) : count(n)
    {
        CHECK(cudaMalloc(&data, (n ? n : 1) * sizeof(T)));
    }
    ~device_array()
    {
        cudaFree(data);
    }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    size_t bytes() const
    {
        return count * sizeof(T);
    }
};

// A fixed function of the index: the same data in every run and on every card.
__host__ __device__ inline uint32_t hash_of(uint64_t i, uint32_t seed)
{
    uint64_t x = i * 0x9e3779b97f4a7c15ull + seed;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return static_cast<uint32_t>(x >> 32);
}

template <class T, class F> __global__ void fill_kernel(T *data, size_t n, F f)
{
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n;
         i += size_t{gridDim.x} * blockDim.x)
        data[i] = f(i);
}

template <class T> struct random_bits { // needs no --extended-lambda
    uint32_t seed;
    __device__ T operator()(size_t i) const
    {
        return static_cast<T>(hash_of(i, seed));
    }
};

// data[i] = f(i), f a function object with a __device__ operator().
template <class T, class F> void fill(T *data, size_t n, F f, cudaStream_t stream = nullptr)
{
    if (n > 0)
        fill_kernel<<<static_cast<unsigned>(std::min<size_t>((n + 255) / 256, 8192)), 256, 0,
                      stream>>>(data, n, f);
    CHECK(cudaGetLastError());
}

template <class T>
__global__ void count_differences_kernel(const T *a, const T *b, size_t n,
                                         unsigned long long *count)
{
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n;
         i += size_t{gridDim.x} * blockDim.x)
        mine += !(a[i] == b[i]);
    if (mine)
        atomicAdd(count, mine); // with every other thread that found some
}

// How many of n elements differ.
template <class T> unsigned long long differences(const T *a, const T *b, size_t n)
{
    static device_array<unsigned long long> count(1);
    unsigned long long found = 0;
    CHECK(cudaMemset(count.data, 0, sizeof found));
    if (n > 0)
        count_differences_kernel<<<static_cast<unsigned>(std::min<size_t>((n + 255) / 256, 8192)),
                                   256>>>(a, b, n, count.data);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&found, count.data, sizeof found, cudaMemcpyDeviceToHost));
    return found;
}

// ---- timing ------------------------------------------------------------------------------------

struct contender {
    const char *name;
    std::function<void()> poison;  // overwrites what `call` writes
    std::function<void()> call;    // on the stream that the bench passed in
    std::function<bool()> correct; // after the call; may be empty
};

constexpr size_t kFlushBytes = size_t{256} << 20;

// Writes through the cache: afterwards it holds nothing of the arrays, and only dirty lines.
inline void flush_cache(cudaStream_t stream)
{
    static device_array<uint32_t> buffer(kFlushBytes / sizeof(uint32_t));
    static uint32_t value = 0;
    fill(buffer.data, buffer.count, random_bits<uint32_t>{++value}, stream);
}

struct timing {
    double median_ms;
    int wrong; // calls whose output was not right
};

// `rounds` timed calls of each contender, in turns, after `warm_up` of the same kind.
inline std::vector<timing> time_in_turns(const std::vector<contender> &contenders,
                                         cudaStream_t stream, int rounds = 21, int warm_up = 2)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<std::vector<float>> samples(contenders.size());
    std::vector<timing> result(contenders.size(), timing{0, 0});
    for (int round = -warm_up; round < rounds; round++)
        for (size_t c = 0; c < contenders.size(); c++) {
            contenders[c].poison();
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaCtxResetPersistingL2Cache());
            flush_cache(stream);
            CHECK(cudaEventRecord(begin, stream));
            contenders[c].call();
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaDeviceSynchronize());
            float ms = 0;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            if (round >= 0)
                samples[c].push_back(ms);
            if (contenders[c].correct && !contenders[c].correct())
                result[c].wrong++;
        }
    for (size_t c = 0; c < contenders.size(); c++) {
        std::sort(samples[c].begin(), samples[c].end());
        const size_t n = samples[c].size();
        result[c].median_ms = (samples[c][n / 2] + samples[c][(n - 1) / 2]) / 2;
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return result;
}

// ---- goals -------------------------------------------------------------------------------------

struct tally {
    int kept = 0, missed = 0, wrong = 0;

    const char *goal(double ratio, double at_least)
    {
        const bool is_kept = ratio >= at_least;
        (is_kept ? kept : missed)++;
        return is_kept ? "kept" : "NOT KEPT";
    }

    // A line of correctness: printed as an item of a list, and counted if it is wrong.
    void check(bool right, const char *format, ...)
    {
        std::printf("- %s: ", right ? "right" : "WRONG");
        va_list arguments;
        va_start(arguments, format);
        std::vprintf(format, arguments);
        va_end(arguments);
        std::printf("\n");
        wrong += !right;
    }

    // The last line, and the program's status: 0, 1 for a goal not kept, 2 for a wrong result.
    int finish() const
    {
        std::printf("\n%d goals kept, %d not kept, %d wrong results\n", kept, missed, wrong);
        return wrong ? 2 : missed ? 1 : 0;
    }
};

// Prints the card; ends with 77, CTest's status for a skipped test, if there is none.
inline void need_card()
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::printf("skipped: there is no CUDA card here\n");
        std::exit(77);
    }
    cudaDeviceProp card;
    CHECK(cudaGetDeviceProperties(&card, 0));
    int runtime = 0;
    CHECK(cudaRuntimeGetVersion(&runtime));
    std::printf("%s, %d SMs, sm_%d%d, CUDA %d.%d\n", card.name, card.multiProcessorCount,
                card.major, card.minor, runtime / 1000, runtime % 1000 / 10);
}

} // namespace bench
