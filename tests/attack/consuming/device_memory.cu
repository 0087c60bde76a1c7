// expect: memory_limit_exceeded or run_time_error or time_limit_exceeded or accepted
// Takes device memory until there is none.
#include "attack.cuh"

SUBMISSION
{
    size_t all = 0;
    void *p;
    if (first_call())
        while (all < (size_t)8 << 30 && cudaMalloc(&p, 32u << 20) == cudaSuccess) {
            cudaMemset(p, 1, 32u << 20);
            all += 32u << 20;
        }
    cudaGetLastError();
    if (all >= (size_t)8 << 30)
        BREACH("8 GiB of device memory");
    honest(in, out, n, stream);
}
