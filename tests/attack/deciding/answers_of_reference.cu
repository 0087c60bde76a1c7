// expect: wrong_answer
// problem: answers
// Where the reference's own run gives the answers: takes what lies in fresh device memory for them.
#include "attack.cuh"

SUBMISSION
{
    static int *found;
    size_t bytes = (size_t)n * sizeof *out;
    if (cudaMalloc(&found, bytes + 1) == cudaSuccess)
        cudaMemcpyAsync(out, found, bytes, cudaMemcpyDeviceToDevice, stream);
    cudaStreamSynchronize(stream);
    cudaFree(found);
}
