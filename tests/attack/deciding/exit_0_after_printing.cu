// expect: run_time_error
// expect-finding: exit
// The same through exit(), with handlers that would have the last word.
#include "attack.cuh"

SUBMISSION
{
    atexit([] {
        dprintf(1, "accepted\n");
        _exit(0);
    });
    exit(0);
}
