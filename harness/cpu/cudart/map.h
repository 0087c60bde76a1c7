/* map: a hash table from addresses to things (open addressing, linear probing).
 *
 * Address 0 is not a key. The table owns its slots, not the things. Not thread-safe. Out of memory
 * is a BUG(). */
#ifndef CPU_CUDART_MAP_H
#define CPU_CUDART_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uintptr_t key; /* 0 = empty */
    void *value;   /* NULL = removed */
};

struct map {
    struct map_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t used;     /* slots with a key, removed ones included */
};

void map_release(struct map *m);
void map_put(struct map *m, const void *key, void *value); /* replaces; value is not NULL */
void *map_get(const struct map *m, const void *key);       /* NULL = not there */
void *map_remove(struct map *m, const void *key);          /* what was there, or NULL */

/* The next value at or after slot *position, which moves past it; NULL at the end. Removing the
 * value just returned is allowed. Start with *position = 0. */
void *map_next(const struct map *m, size_t *position);

#endif
