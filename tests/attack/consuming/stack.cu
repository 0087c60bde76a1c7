// expect: run_time_error
// expect-finding: signal
#include "attack.cuh"

static __attribute__((noinline)) int deeper(volatile char *before)
{
    volatile char here[4096];
    here[0] = before[0];
    return deeper(here) + here[0];
}

SUBMISSION
{
    char first[1] = {1};
    printf("%d\n", deeper(first));
}
