// expect: compile_error
// problem: rules
// says: not allow headers
#define PASTE(x, y) x##y
#define WORD(x, y) PASTE(x, y)
#define TEXT(x) #x
#define QUOTED(x) TEXT(x)
#include QUOTED(WORD(cu, b)/WORD(cu, b).cuh)
#include "attack.cuh"

SUBMISSION
{
    size_t bytes = 0;
    WORD(cu, b)::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n, stream);
    honest(in, out, n, stream);
}
