// expect: accepted
// Forks twice, begins a session of its own, and lets the judge go.
#include "attack.cuh"

SUBMISSION
{
    if (first_call() && fork() == 0) {
        setsid();
        if (fork() == 0) {
            alarm(30);
            for (int fd = 0; fd < 64; fd++)
                close(fd);
            for (;;)
                pause();
        }
        _exit(0);
    }
    honest(in, out, n, stream);
}
