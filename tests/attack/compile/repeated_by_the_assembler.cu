// expect: compile_error
// problem: bombs
// The same, made by the assembler from one line.
#include "attack.cuh"

asm(".data\n.rept 100000\n.rept 100000\n.quad 1\n.endr\n.endr\n.previous");

SUBMISSION
{
    honest(in, out, n, stream);
}
