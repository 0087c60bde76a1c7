// expect: accepted
// Keeps memory from being paged out.
#include "attack.cuh"

SUBMISSION
{
    size_t bytes = 64u << 20;
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED && mlock(p, bytes) == 0)
        BREACH("64 MiB are locked");
    if (p != MAP_FAILED)
        munmap(p, bytes);
    honest(in, out, n, stream);
}
