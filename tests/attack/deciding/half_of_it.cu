// expect: wrong_answer
// Leaves the second half to whatever is there.
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n / 2, stream);
}
