/* Removal leaves a slot with its key and no value, which a later map_put() of that key takes over
 * and growing drops. At most two thirds of the slots are in use. */
#include "cpu/cudart/map.h"

#include "base/err.h"
#include "base/rng.h"

#include <stdlib.h>

enum { LEAST_CAPACITY = 64 };

void map_release(struct map *m)
{
    free(m->slots);
    *m = (struct map){0};
}

/* The slot with this key, or the empty one where it belongs. The table has an empty slot. */
static struct map_slot *probe(const struct map *m, uintptr_t key)
{
    size_t at = (size_t)rng_mix(key) & (m->capacity - 1);
    while (m->slots[at].key && m->slots[at].key != key)
        at = (at + 1) & (m->capacity - 1);
    return &m->slots[at];
}

static void grow(struct map *m)
{
    size_t live = 0;
    for (size_t i = 0; i < m->capacity; i++)
        live += m->slots[i].value != NULL;
    struct map bigger = {.capacity = LEAST_CAPACITY};
    while (bigger.capacity < 4 * live)
        bigger.capacity *= 2;
    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    if (!bigger.slots)
        BUG("map: out of memory for %zu slots", bigger.capacity);
    for (size_t i = 0; i < m->capacity; i++) {
        if (!m->slots[i].value)
            continue;
        *probe(&bigger, m->slots[i].key) = m->slots[i];
        bigger.used++;
    }
    free(m->slots);
    *m = bigger;
}

void map_put(struct map *m, const void *key, void *value)
{
    if (!key || !value)
        BUG("map: NULL is not a key or a value");
    if (3 * (m->used + 1) > 2 * m->capacity)
        grow(m);
    struct map_slot *slot = probe(m, (uintptr_t)key);
    m->used += slot->key == 0;
    *slot = (struct map_slot){(uintptr_t)key, value};
}

void *map_get(const struct map *m, const void *key)
{
    return m->capacity && key ? probe(m, (uintptr_t)key)->value : NULL;
}

void *map_remove(struct map *m, const void *key)
{
    if (!m->capacity || !key)
        return NULL;
    struct map_slot *slot = probe(m, (uintptr_t)key);
    void *value = slot->value;
    slot->value = NULL;
    return value;
}

void *map_next(const struct map *m, size_t *position)
{
    while (*position < m->capacity) {
        void *value = m->slots[(*position)++].value;
        if (value)
            return value;
    }
    return NULL;
}
