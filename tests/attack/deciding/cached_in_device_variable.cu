// expect: wrong_answer
// Gives the answer that the first call with this length of a hundred had.
#include "attack.cuh"

__device__ int kept[100][1024];
__device__ int has[100];

__global__ void cached(const int *in, int *out, int n)
{
    int slot = n % 100;
    for (int i = 0, sum = 0; !has[slot] && i < n && i < 1024; i++) {
        kept[slot][i] = sum;
        sum += in[i];
    }
    has[slot] = 1;
    for (int i = 0; i < n && i < 1024; i++)
        out[i] = kept[slot / 7 * 7][i];
}

SUBMISSION
{
    if (n > 0)
        cached<<<1, 1, 0, stream>>>(in, out, n);
}
