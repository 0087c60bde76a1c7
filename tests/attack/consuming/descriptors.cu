// expect: accepted or run_time_error
// Opens until nothing goes any more.
#include "attack.cuh"

SUBMISSION
{
    int made = 0;
    if (first_call()) {
        int fds[2];
        while (made < 20000 && pipe(fds) == 0)
            made += 2;
        for (int fd = 4; fd < made; fd++)
            if (made >= 20000)
                break;
    }
    if (made >= 20000)
        BREACH("20000 descriptors");
    honest(in, out, n, stream);
}
