// expect: time_limit_exceeded
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
    sleep(30);
}
