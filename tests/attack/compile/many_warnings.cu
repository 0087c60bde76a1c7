// expect: compile_error or accepted
// The same without an error.
#include "attack.cuh"
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(x)))
static void f()
{
    B(_Pragma("message \"accepted, accepted, accepted, accepted, accepted, accepted, accepted, accepted\""))
}

SUBMISSION
{
    f();
    honest(in, out, n, stream);
}
