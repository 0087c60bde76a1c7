// expect: time_limit_exceeded
#include "attack.cuh"
#include <csignal>

SUBMISSION
{
    for (int s = 1; s < 65; s++)
        signal(s, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    for (int i = 0; i < 30; i++)
        sleep(1);
}
