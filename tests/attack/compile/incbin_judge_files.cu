// expect: compile_error
#include "attack.cuh"

asm(".section .rodata\nsj_file: .incbin \"" ATTACK_ROOT "/problems/scan/problem.yaml\"\n.byte 0\n.previous");
extern "C" const char sj_file[];

SUBMISSION
{
    BREACH("%.60s", sj_file);
}
