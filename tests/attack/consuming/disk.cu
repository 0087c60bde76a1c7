// expect: accepted
// Fills whatever it may write to, in many files, up to half a gigabyte.
#include "attack.cuh"

SUBMISSION
{
    static const char *const PLACES[] = {"/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/", ".", "/dev", "/root", "/home"};
    static char piece[1 << 20];
    size_t all = 0;
    if (first_call())
        for (const char *place : PLACES)
            for (int i = 0; i < 32; i++) {
                char path[100];
                size_t here = 0;
                snprintf(path, sizeof path, "%s/sj_attack_full_%d", place, i);
                int fd = open(path, O_RDWR | O_CREAT, 0666);
                while (fd >= 0 && all < 512u << 20 && here < 64u << 20 && write(fd, piece, sizeof piece) > 0) {
                    all += sizeof piece;
                    here += sizeof piece;
                }
                if (fd >= 0)
                    close(fd);
            }
    if (all > 300u << 20)
        BREACH("%zu MiB were written", all >> 20);
    honest(in, out, n, stream);
}
