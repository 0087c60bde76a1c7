// expect: run_time_error
// Ends before main has asked for anything.
#include "attack.cuh"

__attribute__((constructor)) static void before_main()
{
    dprintf(1, "accepted\n");
    _exit(0);
}

SUBMISSION
{
    honest(in, out, n, stream);
}
