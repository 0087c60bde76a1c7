/* A program may well keep a buffer from call to call, and get a larger one when it needs it. So
 * what counts is the number of things of a kind: that it grows in call after call, and never
 * shrinks. The caller's own are as many in every call. */
#include "cpu/cudart/leak.h"

#include "cpu/cudart/runtime.h"

#include <stdio.h>

enum { CALLS = 5 }; /* each of which left more than the one before */

/* How many there are of a kind, call after call. */
static struct pile {
    const char *things, *give_back;
    const struct map *all;
    size_t count, first_count; /* after the last call, and after the first of those that grew */
    unsigned grew;
} piles[] = {
    {.things = "allocations", .give_back = "cudaFree", .all = &rt.allocations},
    {.things = "streams", .give_back = "cudaStreamDestroy", .all = &rt.streams},
    {.things = "events", .give_back = "cudaEventDestroy", .all = &rt.events},
};

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

/* ", the last one 4096 bytes by cudaMalloc". The newest is the entry's: the caller's are older. */
static void describe_newest(char *out, size_t out_bytes)
{
    size_t position = 0;
    const struct rt_allocation *newest = NULL;
    for (const struct rt_allocation *a; (a = map_next(&rt.allocations, &position));)
        if (!newest || a->serial > newest->serial)
            newest = a;
    if (newest)
        snprintf(out, out_bytes, ", the last one %zu bytes by %s", newest->bytes, call_of(newest));
}

/* Has it grown for so many calls, just now? */
static bool has_piled_up(struct pile *p)
{
    size_t position = 0, count = 0;
    while (map_next(p->all, &position))
        count++;
    if (p->grew == CALLS) /* told */
        return false;
    if (p->grew == 0 || count < p->count) {
        p->grew = 1;
        p->first_count = count;
    } else {
        p->grew += count > p->count;
    }
    p->count = count;
    return p->grew == CALLS;
}

void leak_report(void)
{
    for (size_t i = 0; i < sizeof piles / sizeof piles[0]; i++) {
        struct pile *p = &piles[i];
        char newest[96] = "";
        if (!has_piled_up(p))
            continue;
        if (p->all == &rt.allocations)
            describe_newest(newest, sizeof newest);
        rt_report(FINDING_leak, WIRE_WARNING, NULL,
                  "%s pile up: %zu more after %d calls%s. What a call makes it has to give back "
                  "(%s), or to keep for the next call",
                  p->things, p->count - p->first_count, CALLS, newest, p->give_back);
    }
}
