// expect: compile_error
// Files that the assembler can be told to read: the judge's own and the machine's.
#include "attack.cuh"

asm(".section .rodata\nsj_file: .incbin \"/etc/shadow\"\n.byte 0\n.previous");
extern "C" const char sj_file[];

SUBMISSION
{
    BREACH("%.60s", sj_file);
}
