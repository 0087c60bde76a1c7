// expect: accepted
// problem: rules
// No attack: names a library without using it. #include <cub/cub.cuh>
#include "attack.cuh"
#if __has_include(<cub/cub.cuh>)
static const char *const cub = "cub::DeviceScan";
#endif

SUBMISSION
{
    honest(in, out, n, stream);
    if (!cub)
        printf("no cub\n");
}
