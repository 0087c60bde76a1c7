// printf() in device code: every kind of argument, one line per call, and an assert that holds.
// With the argument "fail" the assert fails, and the error that the host then gets is printed.
#include "common.cuh"

#include <cassert>
#include <cstring>

__global__ void say(const char *word, int limit)
{
    const unsigned lane = threadIdx.x;
    if (lane == 0) {
        printf("plain text, 100%%\n");
        printf("int %d, unsigned %u, hex %x\n", -7, 7u, 255u);
        printf("padded [%5d] [%-5d] [%05d]\n", 42, 42, 42);
        printf("long %lld, unsigned long %llu\n", -5000000000LL, 18446744073709551615ULL);
        printf("double %f, float %.3f, exponent %e, short form %g\n", 0.5, 2.25f, 12345.678, 1e-10);
        printf("char %c, string %s, width %*d\n", 'x', word, 4, 9);
    }
    if (lane % 2 == 1 && lane < 4)
        printf("lane %u of block %u\n", lane, blockIdx.x);
    assert(static_cast<int>(lane) < limit);
}

int main(int argc, char **argv)
{
    const bool fail = argc > 1 && std::strcmp(argv[1], "fail") == 0;
    const char word[] = "scan";
    char *d_word;
    CUDA_CHECK(cudaMalloc(&d_word, sizeof word));
    CUDA_CHECK(cudaMemcpy(d_word, word, sizeof word, cudaMemcpyHostToDevice));
    say<<<1, 32>>>(d_word, fail ? 31 : 32);
    CUDA_CHECK(cudaGetLastError());
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("synchronize: %s\n", cudaGetErrorName(error));
    const bool ok = error == (fail ? cudaErrorAssert : cudaSuccess);
    std::printf("printf and assert: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
