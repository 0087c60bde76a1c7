// expect: run_time_error
// expect-finding: out_of_bounds_read
// Reads on beyond its buffers, where the answers might lie.
#include "attack.cuh"

__global__ void look(const int *in, int *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = out[i + 4096];
}

SUBMISSION
{
    look<<<1, 1, 0, stream>>>(in, out, n + 1);
}
