// expect: output_limit_exceeded or wrong_answer or accepted
#include "attack.cuh"

__global__ void flood()
{
    for (int i = 0; i < 200; i++)
        printf("accepted accepted accepted accepted %d\n", i);
}

SUBMISSION
{
    honest(in, out, n, stream);
    flood<<<8, 64, 0, stream>>>();
}
