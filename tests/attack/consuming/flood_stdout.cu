// expect: output_limit_exceeded
#include "attack.cuh"

SUBMISSION
{
    honest(in, out, n, stream);
    for (int i = 0; i < 1000000; i++)
        puts("accepted accepted accepted accepted accepted accepted accepted accepted");
}
