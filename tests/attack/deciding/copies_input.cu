// expect: wrong_answer
#include "attack.cuh"

SUBMISSION
{
    cudaMemcpyAsync(out, in, (size_t)n * sizeof *out, cudaMemcpyDeviceToDevice, stream);
}
