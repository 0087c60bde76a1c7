// expect: time_limit_exceeded or run_time_error
#include "attack.cuh"

__global__ void endless(volatile int *out)
{
    for (int i = 0;; i++)
        out[0] = i;
}

SUBMISSION
{
    endless<<<1, 32, 0, stream>>>(out);
}
