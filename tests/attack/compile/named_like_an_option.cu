// expect: accepted
// as: -o
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
}
