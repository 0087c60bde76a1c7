// expect: time_limit_exceeded
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
    alarm(30);
    for (volatile int i = 0;;)
        i = i + 1;
}
