// expect: wrong_answer
// Launches nothing and leaves the output alone.
#include <cstddef>

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
}
