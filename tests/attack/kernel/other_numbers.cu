// expect: accepted or run_time_error
// The same for the numbers of the x32 calls.
#include "attack.cuh"

SUBMISSION
{
    errno = 0;
    if (syscall(0x40000000 | SYS_getpid) != -1)
        BREACH("x32 calls go through");
    honest(in, out, n, stream);
}
