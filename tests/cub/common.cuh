// What the programs of tests/cub share: element types, sizes, device buffers, checked calls and the
// report. Every program compares a library algorithm on the device with a plain loop on the host:
//
//     int main(int argc, char **argv)
//     {
//         start(argc, argv);                    // the one argument: the largest n, default 1000000
//         for (int n : sizes()) {
//             const std::vector<int> in = random_values<int>(n);
//             device_buffer<int> d_in(in), d_out(n);
//             cub_call<int>("DeviceScan::InclusiveSum", n, [&](void *storage, size_t &bytes) {
//                 return cub::DeviceScan::InclusiveSum(storage, bytes, d_in.data, d_out.data, n);
//             });
//             expect(running_sum(in), d_out);
//         }
//         return finish();
//     }
//
// A difference is printed with its algorithm, type, n, index, what came and what was expected. The
// last line is PASS or FAIL with the number of (algorithm, type, n) triples that ran.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda_runtime.h>

using int64 = long long;

// ---- element types ----

// A struct with padding. Its + is associative and not commutative: `key` is the affine map
// v -> high * v + low on 16-bit numbers (left operand applied first), `count` a sum, `x` the last
// one that is not 0.
struct item {
    int key;
    short count;
    float x;
};

__host__ __device__ inline item operator+(const item &a, const item &b)
{
    unsigned ka = static_cast<unsigned>(a.key), kb = static_cast<unsigned>(b.key);
    unsigned high = (ka >> 16) * (kb >> 16), low = (ka & 0xffff) * (kb >> 16) + (kb & 0xffff);
    return {static_cast<int>(high << 16 | (low & 0xffff)), static_cast<short>(a.count + b.count),
            b.x != 0 ? b.x : a.x};
}

__host__ __device__ inline bool operator==(const item &a, const item &b)
{
    return a.key == b.key && a.count == b.count && a.x == b.x;
}

__host__ __device__ inline bool operator!=(const item &a, const item &b)
{
    return !(a == b);
}

__host__ __device__ inline bool operator<(const item &a, const item &b)
{
    if (a.key != b.key)
        return a.key < b.key;
    return a.count != b.count ? a.count < b.count : a.x < b.x;
}

template <typename T> const char *type_name()
{
    return std::is_same<T, int>::value                  ? "int32"
           : std::is_same<T, int64>::value              ? "int64"
           : std::is_same<T, float>::value              ? "float"
           : std::is_same<T, item>::value               ? "item"
           : std::is_same<T, unsigned>::value           ? "uint32"
           : std::is_same<T, unsigned char>::value      ? "uint8"
           : std::is_same<T, unsigned short>::value     ? "uint16"
           : std::is_same<T, double>::value             ? "double"
           : std::is_same<T, unsigned long long>::value ? "uint64"
                                                        : "?";
}

// ---- operators ----

// Functors with a plain result type: the same object serves host oracle and device.
struct plus_op {
    template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a + b;
    }
};
struct max_op {
    template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};
struct min_op {
    template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return b < a ? b : a;
    }
};
struct equal_op {
    template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const
    {
        return a == b;
    }
};
struct less_op {
    template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const
    {
        return a < b;
    }
};

// A number that stands for a value, for predicates and keys.
__host__ __device__ inline int number_of(int v)
{
    return v;
}
__host__ __device__ inline int number_of(int64 v)
{
    return static_cast<int>(v % 65537);
}
__host__ __device__ inline int number_of(float v)
{
    return static_cast<int>(v);
}
__host__ __device__ inline int number_of(const item &v)
{
    return v.key;
}

// ---- values ----

inline unsigned long long mix(unsigned long long v)
{
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

// Sums of 10^6 of them neither overflow nor round: floats are small whole numbers.
inline void set_value(int &v, unsigned long long bits)
{
    v = static_cast<int>(bits % 2001) - 1000;
}
inline void set_value(unsigned &v, unsigned long long bits)
{
    v = static_cast<unsigned>(bits);
}
inline void set_value(unsigned long long &v, unsigned long long bits)
{
    v = bits;
}
inline void set_value(unsigned char &v, unsigned long long bits)
{
    v = static_cast<unsigned char>(bits);
}
inline void set_value(unsigned short &v, unsigned long long bits)
{
    v = static_cast<unsigned short>(bits);
}
inline void set_value(int64 &v, unsigned long long bits)
{
    v = static_cast<int64>(bits % 2000000000001u) - 1000000000000;
}
inline void set_value(float &v, unsigned long long bits)
{
    v = static_cast<float>(static_cast<int>(bits % 17) - 8);
}
inline void set_value(double &v, unsigned long long bits)
{
    v = static_cast<double>(static_cast<int>(bits % 2001) - 1000);
}
inline void set_value(item &v, unsigned long long bits)
{
    std::memset(&v, 0, sizeof v);
    v.key = static_cast<int>(bits >> 32 | 0x10000); // the multiplier is odd
    v.count = static_cast<short>(bits % 7);
    v.x = bits % 5 ? 0.0f : static_cast<float>(bits >> 8 & 255);
}

template <typename T> std::vector<T> random_values(int n, unsigned seed = 1)
{
    std::vector<T> out(n);
    for (int i = 0; i < n; ++i)
        set_value(out[i], mix(static_cast<unsigned long long>(seed) << 32 | i));
    return out;
}

// Runs of 1 to `longest` equal values, so that keys repeat; neighbouring runs differ.
template <typename T> std::vector<T> values_in_runs(int n, int longest, unsigned seed = 2)
{
    std::vector<T> out(n);
    int left = 0;
    T value{};
    for (int i = 0; i < n; ++i) {
        unsigned long long bits = mix(static_cast<unsigned long long>(seed) << 32 | i);
        if (left == 0) {
            T next;
            do
                set_value(next, bits = mix(bits));
            while (next == value);
            value = next;
            left = 1 + static_cast<int>(bits % longest);
        }
        out[i] = value;
        --left;
    }
    return out;
}

// ---- the program's life ----

struct test_state {
    int largest = 1000000;
    const char *algorithm = "?", *type = "?";
    long long n = 0;
    long triples = 0, failures = 0;
};
inline test_state test;

inline void start(int argc, char **argv)
{
    if (argc > 1)
        test.largest = std::atoi(argv[1]);
}

inline std::vector<int> sizes(int largest = 1000000)
{
    static const int all[] = {0,   1,   2,   31,   32,   33,   127,  128,   129,
                              255, 256, 257, 1000, 4095, 4096, 4097, 65537, 1000000};
    std::vector<int> out;
    for (int n : all)
        if (n <= largest && n <= test.largest)
            out.push_back(n);
    return out;
}

inline int finish()
{
    std::printf("%s: %ld of %ld (algorithm, type, n) triples differ\n",
                test.failures ? "FAIL" : "PASS", test.failures, test.triples);
    return test.failures || !test.triples ? EXIT_FAILURE : EXIT_SUCCESS;
}

template <typename T> void begin(const char *algorithm, long long n)
{
    test.algorithm = algorithm;
    test.type = type_name<T>();
    test.n = n;
    ++test.triples;
}

// An error of the device ends the program: later calls would only repeat it.
inline void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::printf("FAIL: %s, %s, n = %lld: %s: %s (%s)\n", test.algorithm, test.type, test.n, what,
                cudaGetErrorName(error), cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
}

inline void synchronize()
{
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "run");
}

// ---- device memory ----

template <typename T> struct device_buffer {
    T *data = nullptr;
    size_t count;

    explicit device_buffer(size_t count_) : count(count_)
    {
        check(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc");
    }
    explicit device_buffer(const std::vector<T> &values) : device_buffer(values.size())
    {
        if (count)
            check(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice),
                  "cudaMemcpy to the device");
    }
    device_buffer(const device_buffer &) = delete;
    device_buffer &operator=(const device_buffer &) = delete;
    ~device_buffer()
    {
        cudaFree(data);
    }
    std::vector<T> read(size_t wanted) const
    {
        std::vector<T> out(wanted);
        if (wanted)
            check(cudaMemcpy(out.data(), data, wanted * sizeof(T), cudaMemcpyDeviceToHost),
                  "cudaMemcpy to the host");
        return out;
    }
};

// ---- comparing ----

inline std::string text_of(const item &v)
{
    return "{" + std::to_string(v.key) + ", " + std::to_string(v.count) + ", " +
           std::to_string(v.x) + "}";
}
template <typename T> std::string text_of(const T &v)
{
    return std::to_string(v);
}

inline void differ(const char *output, long long index, const std::string &got,
                   const std::string &expected)
{
    std::printf("FAIL: %s, %s, n = %lld: %s[%lld] is %s, expected %s\n", test.algorithm, test.type,
                test.n, output, index, got.c_str(), expected.c_str());
}

template <typename T>
bool expect(const std::vector<T> &expected, const std::vector<T> &got, const char *output = "out")
{
    long long wrong = 0;
    if (got.size() != expected.size()) {
        differ(output, -1, "of size " + std::to_string(got.size()),
               "size " + std::to_string(expected.size()));
        wrong = 1;
    }
    for (size_t i = 0; i < expected.size() && i < got.size(); ++i)
        if (!(got[i] == expected[i]) && wrong++ < 3)
            differ(output, static_cast<long long>(i), text_of(got[i]), text_of(expected[i]));
    if (wrong > 3)
        std::printf("      and %lld more\n", wrong - 3);
    test.failures += wrong != 0;
    return wrong == 0;
}

// The buffer's first values; it may be longer.
template <typename T>
bool expect(const std::vector<T> &expected, const device_buffer<T> &got, const char *output = "out")
{
    return expect(expected, got.read(expected.size()), output);
}

template <typename T>
bool expect_one(const T &expected, const device_buffer<T> &got, const char *output)
{
    return expect(std::vector<T>{expected}, got, output);
}

// ---- calls ----

// CUB's protocol: a first call says how much temporary storage the second one needs.
template <typename T, typename Call> void cub_call(const char *algorithm, long long n, Call call)
{
    begin<T>(algorithm, n);
    void *storage = nullptr;
    size_t bytes = 0;
    check(call(storage, bytes), "the call for the size of the storage");
    check(cudaMalloc(&storage, bytes), "cudaMalloc");
    check(call(storage, bytes), "the call");
    synchronize();
    check(cudaFree(storage), "cudaFree");
}

// A kernel of the test's own.
template <typename T, typename Launch>
void kernel_call(const char *algorithm, long long n, Launch launch)
{
    begin<T>(algorithm, n);
    launch();
    synchronize();
}
