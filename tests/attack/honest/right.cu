// expect: accepted
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
}
