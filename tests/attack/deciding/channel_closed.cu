// expect: run_time_error
// Shuts the way to the judge.
#include "attack.cuh"
#include <sys/socket.h>

SUBMISSION
{
    honest(in, out, n, stream);
    cudaStreamSynchronize(stream);
    shutdown(3, SHUT_RDWR);
}
