// expect: wrong_answer or run_time_error
// Makes the input fit its answer: zeros.
#include "attack.cuh"

SUBMISSION
{
    cudaMemsetAsync(const_cast<int *>(in), 0, (size_t)n * sizeof *in, stream);
    cudaMemsetAsync(out, 0, (size_t)n * sizeof *out, stream);
}
