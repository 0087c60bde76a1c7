/* How it works: a table of what is held, by address, under one lock; sums in it. A row of calls.def
 * is a function of the runtime's own name: the dynamic linker finds it before NVIDIA's, because
 * this library entered the global scope first. Types are spelt out (an enum is an int, handles are
 * pointers): this must not include the header that renames the calls. */
#include "wire/meter.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, OUT_OF_MEMORY = 2, UNKNOWN = 999 };

struct held {
    const void *pointer; /* NULL = free */
    uint64_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held *table; /* open addressing, at most half full */
static size_t capacity, used;
static uint64_t held_bytes, peak_bytes, before_bytes, limit;
static void *runtime;

/* ---- the table; the lock is held ---- */

static size_t slot_of(const struct held *in, size_t size, const void *pointer)
{
    size_t at = (size_t)(((uintptr_t)pointer >> 8) * UINT64_C(0x9e3779b97f4a7c15)) & (size - 1);
    while (in[at].pointer && in[at].pointer != pointer)
        at = (at + 1) & (size - 1);
    return at;
}

static bool grow(void)
{
    size_t size = capacity ? 2 * capacity : 1024;
    struct held *larger = calloc(size, sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < capacity; i++)
        if (table[i].pointer)
            larger[slot_of(larger, size, table[i].pointer)] = table[i];
    free(table);
    table = larger;
    capacity = size;
    return true;
}

static void remember(const void *pointer, uint64_t bytes)
{
    if (!pointer || (2 * (used + 1) > capacity && !grow()))
        return;
    struct held *h = &table[slot_of(table, capacity, pointer)];
    used += !h->pointer;
    held_bytes += bytes - h->bytes;
    *h = (struct held){pointer, bytes};
    if (held_bytes > peak_bytes)
        peak_bytes = held_bytes;
}

static void forget(const void *pointer)
{
    if (!pointer || !capacity)
        return;
    size_t hole = slot_of(table, capacity, pointer);
    if (!table[hole].pointer)
        return;
    held_bytes -= table[hole].bytes;
    used--;
    table[hole] = (struct held){0};
    /* What was pushed behind it moves up. */
    for (size_t at = (hole + 1) & (capacity - 1); table[at].pointer;
         at = (at + 1) & (capacity - 1)) {
        struct held h = table[at];
        table[at] = (struct held){0};
        table[slot_of(table, capacity, h.pointer)] = h;
    }
}

/* ---- the calls ---- */

/* Would so much more be too much? Then the attempt is noted. */
static bool refuse(uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    uint64_t then = held_bytes - (held_bytes < before_bytes ? held_bytes : before_bytes);
    bool too_much = limit && (bytes > limit || then > limit - bytes);
    if (too_much && held_bytes + bytes > peak_bytes)
        peak_bytes = held_bytes + bytes;
    pthread_mutex_unlock(&lock);
    return too_much;
}

static void took(const void *pointer, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    remember(pointer, bytes);
    pthread_mutex_unlock(&lock);
}

static void gave(const void *pointer)
{
    pthread_mutex_lock(&lock);
    forget(pointer);
    pthread_mutex_unlock(&lock);
}

/* The runtime's own function of that name; false: it has none. */
static bool find(const char *name, void *function)
{
    void *address = runtime ? dlsym(runtime, name) : NULL;
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

#define TAKES(name, asked, got, parameters, arguments)                                             \
    EXPORT int name parameters;                                                                    \
    int name parameters                                                                            \
    {                                                                                              \
        int(*real) parameters;                                                                     \
        if (!find(#name, (void *)&real))                                                           \
            return UNKNOWN;                                                                        \
        if (refuse(asked))                                                                         \
            return OUT_OF_MEMORY;                                                                  \
        int error = real arguments;                                                                \
        if (error == SUCCESS)                                                                      \
            took(*pointer, got);                                                                   \
        return error;                                                                              \
    }
#define GIVES(name, parameters, arguments)                                                         \
    EXPORT int name parameters;                                                                    \
    int name parameters                                                                            \
    {                                                                                              \
        int(*real) parameters;                                                                     \
        if (!find(#name, (void *)&real))                                                           \
            return UNKNOWN;                                                                        \
        gave(pointer); /* before: the address may be another thread's at once */                   \
        return real arguments;                                                                     \
    }
#include "runner/meter/calls.def"
#undef TAKES
#undef GIVES

/* ---- for the runner ---- */

static void bind(void *cudart)
{
    runtime = cudart;
}

static void begin(uint64_t limit_bytes)
{
    pthread_mutex_lock(&lock);
    limit = limit_bytes;
    before_bytes = peak_bytes = held_bytes;
    pthread_mutex_unlock(&lock);
}

static uint64_t peak(void)
{
    pthread_mutex_lock(&lock);
    uint64_t bytes = peak_bytes > before_bytes ? peak_bytes - before_bytes : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

EXPORT const struct wire_meter *scanjudge_meter(void);
const struct wire_meter *scanjudge_meter(void)
{
    static const struct wire_meter METER = {bind, begin, peak};
    return &METER;
}
