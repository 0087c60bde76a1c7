// expect: accepted
// Tries to change the inputs, or the size of what the judge shares, through its descriptors.
#include "attack.cuh"

SUBMISSION
{
    for (int fd = 4; fd < 64; fd++) {
        char link[64], target[512] = "";
        struct stat st;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, target, sizeof target - 1) < 0 || strncmp(target, "/memfd:", 7) != 0 ||
            fstat(fd, &st) != 0)
            continue;
        if (ftruncate(fd, 0) == 0 && st.st_size > 0) {
            struct stat after;
            if (fstat(fd, &after) == 0 && after.st_size != st.st_size)
                BREACH("%s was made smaller", target);
        }
    }
    honest(in, out, n, stream);
}
