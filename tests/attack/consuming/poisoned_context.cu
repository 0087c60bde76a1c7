// expect: run_time_error
// expect-finding: out_of_bounds_write
// others: accepted
// One case leaves the device unusable; the others must not feel it.
#include "attack.cuh"

__global__ void stray(int *out)
{
    out[1ll << 40] = 1;
}

SUBMISSION
{
    if (n == 257)
        stray<<<1, 1, 0, stream>>>(out);
    honest(in, out, n, stream);
}
