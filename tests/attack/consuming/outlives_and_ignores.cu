// expect: run_time_error
// The same with every signal ignored, and then the process that was judged goes.
#include "attack.cuh"
#include <csignal>

SUBMISSION
{
    if (fork() == 0) {
        setsid();
        for (int s = 1; s < 65; s++)
            if (s != SIGALRM)
                signal(s, SIG_IGN);
        if (fork() == 0) {
            alarm(30);
            for (;;)
                pause();
        }
        alarm(30);
        for (;;)
            pause();
    }
    _exit(1);
}
