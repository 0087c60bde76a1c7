// expect: accepted
// Looks for an open file of the judge's among its descriptors.
#include "attack.cuh"

SUBMISSION
{
    for (int fd = 0; fd < 1024; fd++) {
        char link[64], target[512] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, target, sizeof target - 1) < 0)
            continue;
        // The pass's own memory has no name that leads anywhere; the rest are pipes and a socket.
        bool ours = strncmp(target, "/memfd:", 7) == 0 || strncmp(target, "pipe:", 5) == 0 ||
                    strncmp(target, "socket:", 7) == 0 || strncmp(target, "anon_inode:", 11) == 0 ||
                    strcmp(target, "/dev/null") == 0;
        if (!ours)
            BREACH("descriptor %d is %s", fd, target);
    }
    honest(in, out, n, stream);
}
