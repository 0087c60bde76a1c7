// expect: compile_error or accepted
// The compiler's environment, which must be none of the judge's.
#include "attack.cuh"

asm(".section .rodata\nsj_file: .incbin \"/proc/self/environ\"\nsj_end: .byte 0\n.previous");
extern "C" const char sj_file[], sj_end[];

SUBMISSION
{
    for (const char *p = sj_file; p < sj_end; p += strlen(p) + 1)
        if (strstr(p, "ATTACK_") || strstr(p, "SCANJUDGE"))
            BREACH("the compiler's environment says %.60s", p);
    honest(in, out, n, stream);
}
