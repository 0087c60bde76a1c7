// expect: wrong_answer
// Inclusive for exclusive.
#include "attack.cuh"

__global__ void inclusive(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        out[i] = sum;
    }
}

SUBMISSION
{
    if (n > 0)
        inclusive<<<1, 1, 0, stream>>>(in, out, n);
}
