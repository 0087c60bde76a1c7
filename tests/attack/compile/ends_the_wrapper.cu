// expect: compile_error
// Leaves a comment open, so that what the judge adds behind the file is not read.
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
}
/* and so on
