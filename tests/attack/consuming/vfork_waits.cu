// expect: time_limit_exceeded or run_time_error
// A parent that cannot be interrupted while its child sleeps.
#include "attack.cuh"

SUBMISSION
{
    if (vfork() == 0) {
        for (int i = 0; i < 25; i++)
            sleep(1);
        _exit(0);
    }
}
