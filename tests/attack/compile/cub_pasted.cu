// expect: compile_error
// problem: rules
// says: not allow kernels
// A copy of the library's kernel instead of an #include, in a namespace around its own.
#include "attack.cuh"
#define PASTE(x, y) x##y
#define WORD(x, y) PASTE(x, y)

namespace mine {
namespace WORD(cu, b) {
template <class T> __global__ void DeviceScanKernel(const T *in, T *out, int n)
{
    T sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
}
}
}

SUBMISSION
{
    if (n > 0)
        mine::WORD(cu, b)::DeviceScanKernel<<<1, 1, 0, stream>>>(in, out, n);
}
