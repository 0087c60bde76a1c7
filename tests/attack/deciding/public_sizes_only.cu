// expect: wrong_answer
// failing: near
// Right for the lengths of the public cases, and nothing else.
#include "attack.cuh"

SUBMISSION
{
    if (n == 8 || n == 33 || n == 257)
        honest(in, out, n, stream);
}
