// expect: wrong_answer
// problem: floats
// A NaN compares with nothing.
#include <cstddef>

__global__ void fill(float *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = __int_as_float(0x7fffffff);
}

extern "C" void exclusive_scan(const float *in, float *out, int n, cudaStream_t stream)
{
    fill<<<1, 1, 0, stream>>>(out, n);
}
