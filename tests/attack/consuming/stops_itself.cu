// expect: time_limit_exceeded
#include "attack.cuh"
#include <csignal>

SUBMISSION
{
    if (bounded_fork(20) == 0) { // someone to wake it up should nobody else end this
        sleep(15);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}
