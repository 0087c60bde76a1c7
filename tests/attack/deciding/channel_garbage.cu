// expect: run_time_error
// Writes to every descriptor that looks like the way to the judge.
#include "attack.cuh"

SUBMISSION
{
    for (int fd = 3; fd < 64; fd++)
        if (write(fd, "accepted", 8) < 0)
            continue;
    honest(in, out, n, stream);
}
