// expect: run_time_error
// expect-finding: signal
// 32-bit system calls have other numbers.
#include "attack.cuh"

SUBMISSION
{
    int pid = 20; // getpid
    asm volatile("int $0x80" : "+a"(pid) : : "memory");
    BREACH("a call of another architecture gives %d", pid);
    honest(in, out, n, stream);
}
