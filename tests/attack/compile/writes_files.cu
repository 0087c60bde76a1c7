// expect: compile_error or accepted
// Has the assembler write a file of its choice.
#include "attack.cuh"

asm(".file \"/tmp/sj_attack_by_assembler\"\n.print \"accepted\"");
#pragma GCC dump_file "/tmp/sj_attack_by_compiler"

SUBMISSION
{
    honest(in, out, n, stream);
}
