// expect: accepted
// as: @list.cu
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
}
