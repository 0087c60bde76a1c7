// expect: compile_error
// problem: bombs
// An object file of four gigabytes.
#include "attack.cuh"

int large[1 << 30] = {1};

SUBMISSION
{
    honest(in, out, n, stream);
}
