// What every program of the fault table shares: named cases, buffers, a check of the answer.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

namespace faults {

struct entry {
    const char *name;
    void (*run)();
    entry *next;
};
inline entry *first = nullptr;
inline bool failed = false;

struct registrar {
    entry own;
    registrar(const char *name, void (*run)()) : own{name, run, first}
    {
        first = &own;
    }
};

} // namespace faults

// CASE(name) { host code }: what the program does when it is called with this name.
#define CASE(name)                                                                                 \
    static void name##_case();                                                                     \
    static faults::registrar name##_entry(#name, name##_case);                                     \
    static void name##_case()

constexpr unsigned FULL = 0xffffffffu; // all lanes of a warp

// Device memory that nobody has written.
template <typename T> T *fresh(size_t count)
{
    T *p = nullptr;
    if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess)
        std::exit(EXIT_FAILURE);
    return p;
}

template <typename T> T *zeros(size_t count)
{
    T *p = fresh<T>(count);
    cudaMemset(p, 0, count * sizeof(T));
    return p;
}

// value(i) for every i < count.
template <typename T, typename F> T *made(size_t count, F value)
{
    std::vector<T> host(count);
    for (size_t i = 0; i < count; ++i)
        host[i] = static_cast<T>(value(i));
    T *p = fresh<T>(count);
    cudaMemcpy(p, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}

// 1, 2, 3, 1, 2, 3 ...
inline int *input(size_t count)
{
    return made<int>(count, [](size_t i) { return i % 3 + 1; });
}

// The sum of the first `count` elements of input().
inline int input_sum(size_t count)
{
    return static_cast<int>(count / 3 * 6 + (count % 3 == 1) + 3 * (count % 3 == 2));
}

// Waits; the program fails unless element i is value(i).
template <typename T, typename F> void expect(const T *device, size_t count, F value)
{
    std::vector<T> host(count);
    cudaError_t error = cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        std::printf("copying back: %s\n", cudaGetErrorString(error));
        faults::failed = true;
        return;
    }
    for (size_t i = 0; i < count; ++i)
        if (!(host[i] == static_cast<T>(value(i)))) {
            std::printf("element %zu is wrong\n", i);
            faults::failed = true;
            return;
        }
}

int main(int argc, char **argv)
{
    for (faults::entry *e = faults::first; e && argc == 2; e = e->next) {
        if (std::strcmp(e->name, argv[1]) != 0)
            continue;
        e->run();
        cudaError_t error = cudaDeviceSynchronize();
        if (error != cudaSuccess)
            std::printf("in the end: %s\n", cudaGetErrorString(error));
        return faults::failed || error != cudaSuccess;
    }
    std::printf("no such case\n");
    return 2;
}
