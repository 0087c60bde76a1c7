/* How it works: a mapping fits huge pages when its address is a multiple of their size, so a range
 * that surely holds such an address is reserved first, and what is too much of it given back.
 * MADV_COLLAPSE does nothing where a file is empty: one byte of each huge page is touched before.
 */
#include "base/pages.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

static const uint64_t HUGE_BYTES = (uint64_t)2 << 20;
/* Clearing a whole huge page takes as long as making so much of small ones. */
static const uint64_t HUGE_FROM_BYTES = (uint64_t)512 << 10;

uint64_t pages_file_bytes(uint64_t bytes)
{
    if (bytes < HUGE_FROM_BYTES || bytes > UINT64_MAX - HUGE_BYTES)
        return bytes;
    return (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
}

static void *map(int fd, uint64_t bytes, int protection, int flags)
{
    if (bytes < HUGE_BYTES || bytes > SIZE_MAX - HUGE_BYTES) {
        void *p = mmap(NULL, bytes, protection, MAP_SHARED | flags, fd, 0);
        return p == MAP_FAILED ? NULL : p;
    }
    uint64_t reserved = bytes + HUGE_BYTES;
    void *range =
        mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return NULL;
    uint64_t before = -(uint64_t)(uintptr_t)range % HUGE_BYTES;
    uint8_t *start = (uint8_t *)range + before;
    if (mmap(start, bytes, protection, MAP_SHARED | MAP_FIXED | flags, fd, 0) == MAP_FAILED) {
        int why = errno;
        munmap(range, reserved);
        errno = why;
        return NULL;
    }
    if (before)
        munmap(range, before);
    /* Whole pages, which the end of the mapping need not be. */
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = (bytes + page - 1) / page * page;
    if (before + end < reserved)
        munmap(start + end, reserved - before - end);
    return start;
}

void *pages_map(int fd, uint64_t bytes, int protection)
{
    return map(fd, bytes, protection, MAP_POPULATE);
}

void *pages_make(int fd, uint64_t bytes)
{
    uint64_t whole = bytes / HUGE_BYTES * HUGE_BYTES;
    if (whole == 0)
        return map(fd, bytes, PROT_READ | PROT_WRITE, MAP_POPULATE);
    uint8_t *p = map(fd, bytes, PROT_READ | PROT_WRITE, 0);
    if (!p)
        return NULL;
    for (uint64_t at = 0; at < whole; at += HUGE_BYTES)
        *(volatile uint8_t *)(p + at) = 0;
    if (madvise(p, whole, MADV_COLLAPSE) != 0)
        whole = 0;
    /* What is left; without this the pages are made one fault at a time. */
    if (whole < bytes)
        madvise(p + whole, bytes - whole, MADV_POPULATE_WRITE);
    return p;
}
