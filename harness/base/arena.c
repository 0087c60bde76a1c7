#include "base/arena.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 32 * 1024, ALIGN = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char data[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_release(struct arena *a)
{
    for (struct arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    arena_init(a);
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        BUG("arena: %zu bytes asked for", bytes);
    size_t need = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct arena_chunk *c = a->chunks;
    if (!c || c->size - c->used < need) {
        size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;
        c = calloc(1, sizeof *c + size);
        if (!c)
            BUG("arena: out of memory for %zu bytes", size);
        c->size = size;
        /* A large one goes behind the current chunk, whose rest stays usable. */
        if (a->chunks && need > CHUNK_BYTES / 4) {
            c->next = a->chunks->next;
            a->chunks->next = c;
        } else {
            c->next = a->chunks;
            a->chunks = c;
        }
    }
    void *p = c->data + c->used;
    c->used += need;
    a->total_bytes += need;
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        BUG("arena: %zu items of %zu bytes overflow", count, bytes);
    return arena_alloc(a, total);
}

char *arena_strndup(struct arena *a, const char *s, size_t length)
{
    char *copy = arena_alloc(a, length + 1);
    memcpy(copy, s, length);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        BUG("arena_printf: bad format '%s'", format);
    char *s = arena_alloc(a, (size_t)length + 1);
    vsnprintf(s, (size_t)length + 1, format, again);
    va_end(again);
    return s;
}
