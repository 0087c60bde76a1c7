// expect: accepted
// No attack: CUDA itself reserves terabytes of addresses that it never touches.
#include "attack.cuh"

SUBMISSION
{
    size_t bytes = (size_t)256 << 30;
    void *p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        printf("addresses are short: %s\n", strerror(errno));
    else
        munmap(p, bytes);
    if (p != MAP_FAILED)
        honest(in, out, n, stream);
}
