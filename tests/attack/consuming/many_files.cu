// expect: accepted
// Empty files take no space, but room.
#include "attack.cuh"

SUBMISSION
{
    static const char *const PLACES[] = {"/tmp", "/dev/shm", "."};
    if (first_call())
        for (const char *place : PLACES)
            for (int i = 0; i < 2000; i++) {
                char path[100];
                snprintf(path, sizeof path, "%s/sj_attack_%d", place, i);
                int fd = open(path, O_RDWR | O_CREAT, 0666);
                if (fd < 0)
                    break;
                close(fd);
            }
    honest(in, out, n, stream);
}
