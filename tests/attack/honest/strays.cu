// expect: run_time_error
// expect-finding: out_of_bounds_read
// Reads the element behind the last one.
#include "attack.cuh"

__global__ void scan_too_far(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i <= n; i++) {
        int own = *(const volatile int *)(in + i);
        if (i < n)
            out[i] = sum;
        sum += own;
    }
}

SUBMISSION
{
    if (n > 0)
        scan_too_far<<<1, 1, 0, stream>>>(in, out, n);
}
