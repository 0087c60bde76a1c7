// expect: compile_error or accepted
// problem: bombs
#include "attack.cuh"
#define A(x) ((((((((((x))))))))))
#define B(x) A(A(A(A(A(A(A(A(A(A(x))))))))))
#define C(x) B(B(B(B(B(B(B(B(B(B(x))))))))))

SUBMISSION
{
    int one = C(C(1));
    honest(in, out, n * one, stream);
}
