// expect: accepted or memory_limit_exceeded or run_time_error or time_limit_exceeded
// Takes memory and writes to it, three times what the limit and the device's own share allow.
#include "attack.cuh"

SUBMISSION
{
    size_t piece = 16u << 20, all = 0;
    while (first_call() || (all > 0 && all < 2400u << 20)) {
        void *p = mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            break;
        memset(p, 1, piece);
        all += piece;
    }
    if (all >= 2400u << 20)
        BREACH("%zu MiB were taken", all >> 20);
    honest(in, out, n, stream);
}
