/* A program may well keep a buffer from call to call, and get a larger one when it needs it. So
 * what counts is the number of allocations: that it grows in call after call, and never shrinks.
 * The caller's own buffers are as many in every call. */
#include "cpu/cudart/leak.h"

#include "cpu/cudart/runtime.h"

enum { CALLS = 5 }; /* each of which left more than the one before */

static struct {
    size_t count, first_count; /* allocations after the last call, and after the first of these */
    unsigned grew;
} seen;

static const char *call_of(const struct rt_allocation *a)
{
    switch (a->kind) {
    case RT_DEVICE:
        return a->pool ? "cudaMallocAsync" : "cudaMalloc";
    case RT_MANAGED:
        return "cudaMallocManaged";
    case RT_PINNED:
        return "cudaMallocHost";
    case RT_REGISTERED:
        break;
    }
    return "cudaHostRegister";
}

void leak_report(void)
{
    size_t position = 0, count = 0;
    const struct rt_allocation *newest = NULL; /* the entry's: the caller's own are there before */
    for (const struct rt_allocation *a; (a = map_next(&rt.allocations, &position)); count++)
        if (!newest || a->serial > newest->serial)
            newest = a;
    if (seen.grew == CALLS) /* told */
        return;
    if (seen.grew == 0 || count < seen.count) {
        seen.grew = 1;
        seen.first_count = count;
    } else {
        seen.grew += count > seen.count;
    }
    seen.count = count;
    if (seen.grew == CALLS && newest)
        rt_report(FINDING_leak, WIRE_WARNING, NULL,
                  "memory piles up: %zu allocations more after %d calls, the last one %zu bytes by "
                  "%s. What a call allocates it has to free, or to keep for the next call",
                  count - seen.first_count, CALLS, newest->bytes, call_of(newest));
}
