// expect: run_time_error or time_limit_exceeded
// within: 12000
// Never lets the runner begin.
#include "attack.cuh"

__attribute__((constructor)) static void before_main()
{
    sleep(40);
}

SUBMISSION
{
    honest(in, out, n, stream);
}
