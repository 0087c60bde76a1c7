// expect: accepted or memory_limit_exceeded or run_time_error or time_limit_exceeded
// The same in shared memory and in files of memory, which no limit on a process's data counts.
#include "attack.cuh"

SUBMISSION
{
    size_t piece = 16u << 20, all = 0;
    while (first_call() || (all > 0 && all < 2400u << 20)) {
        int fd = memfd_create("sj_attack", 0);
        void *p = fd >= 0 && ftruncate(fd, (off_t)piece) == 0
                      ? mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                      : MAP_FAILED;
        if (p == MAP_FAILED)
            break;
        memset(p, 1, piece);
        all += piece;
        close(fd);
    }
    if (all >= 2400u << 20)
        BREACH("%zu MiB were taken", all >> 20);
    honest(in, out, n, stream);
}
