// expect: compile_error
// problem: rules
// says: not allow headers
#include <cuda/../thrust/../cub/version.cuh>
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
}
