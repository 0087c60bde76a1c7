// expect: run_time_error
// expect-finding: signal
#include "attack.cuh"
#include <csignal>

SUBMISSION
{
    kill(getpid(), SIGKILL);
}
