// expect: run_time_error
// expect-finding: signal
// Leaves a picture of its memory where it dies.
#include "attack.cuh"
#include <csignal>
#include <sys/prctl.h>

SUBMISSION
{
    prctl(PR_SET_DUMPABLE, 1);
    signal(SIGABRT, SIG_DFL);
    if (chdir("/tmp") != 0)
        printf("no /tmp\n");
    raise(SIGABRT);
}
