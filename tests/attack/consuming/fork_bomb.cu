// expect: accepted or run_time_error or time_limit_exceeded
// Every process forks, up to a few hundred that sleep.
#include "attack.cuh"

SUBMISSION
{
    int made = 0;
    if (first_call())
        for (int i = 0; i < 600; i++) {
            pid_t pid = bounded_fork(10);
            if (pid == 0) {
                for (int k = 0; k < 2; k++)
                    bounded_fork(10);
                for (;;)
                    pause();
            }
            made += pid > 0;
        }
    if (made == 600)
        BREACH("600 processes, and their children");
    honest(in, out, n, stream);
}
