/* arena: memory for things that die together.
 *
 * Allocations are zeroed, aligned to 16 bytes, and freed all at once by arena_release().
 * Running out of memory is a BUG(): nothing here handles user data of unbounded size
 * (those are mapped or checked against a limit first). Not thread-safe; one arena, one owner. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    size_t total_bytes; /* handed out so far */
};

void arena_init(struct arena *a);
void arena_release(struct arena *a);

/* `bytes` zeroed bytes; never NULL, also for 0. */
void *arena_alloc(struct arena *a, size_t bytes);
/* `count` zeroed items of `bytes` each; BUG() on overflow. */
void *arena_array(struct arena *a, size_t count, size_t bytes);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t length);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
