// What small CUDA programs need besides the kernel: checked calls, a clock, random input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <cuda_runtime.h>

// Ends the program, with the call and its place, if a CUDA call fails.
#define CUDA_CHECK(call) cuda_check((call), #call, __FILE__, __LINE__)

// The same for the kernels launched so far: first the launch, then the run.
#define CUDA_CHECK_LAST()                                                                          \
    do {                                                                                           \
        CUDA_CHECK(cudaGetLastError());                                                            \
        CUDA_CHECK(cudaDeviceSynchronize());                                                       \
    } while (0)

inline void cuda_check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
}

// Milliseconds per call of run(), by events on the default stream: one call to warm up, then the
// mean of `repeats`.
template <typename Run> float time_ms(Run run, int repeats = 3)
{
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    run();
    CUDA_CHECK(cudaEventRecord(start));
    for (int i = 0; i < repeats; ++i)
        run();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return ms / static_cast<float>(repeats);
}

// 10^9 bytes per second.
inline double gbps(double bytes, double ms)
{
    return bytes / (ms * 1e6);
}

// Uniform in [-1, 1), the same for the same seed.
inline void fill_random(std::vector<float> &values, unsigned seed)
{
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> distribution(-1.0f, 1.0f);
    for (float &v : values)
        v = distribution(generator);
}

inline int sm_count()
{
    int device = 0, count = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
}
