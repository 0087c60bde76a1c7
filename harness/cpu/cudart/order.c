/* The machine numbers operations as they begin. For each number the place (timeline, index) is
 * kept, and for each timeline the numbers in ascending order: the first one that a stamp does not
 * cover is found by bisection, so an operation costs a few steps per timeline, and a program with
 * one stream never asks about a single pair. */
#include "cpu/cudart/order.h"

#include "cpu/cudart/runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- stamps ---- */

void stamp_release(struct stamp *s)
{
    free(s->at);
    *s = (struct stamp){0};
}

static void widen(struct stamp *s, uint32_t count)
{
    if (count <= s->count)
        return;
    uint32_t *at = realloc(s->at, count * sizeof *at);
    if (!at)
        BUG("out of memory for a stamp of %u timelines", count);
    memset(at + s->count, 0, (count - s->count) * sizeof *at);
    s->at = at;
    s->count = count;
}

void stamp_raise(struct stamp *s, uint32_t timeline, uint32_t index)
{
    widen(s, timeline + 1);
    if (s->at[timeline] < index)
        s->at[timeline] = index;
}

void stamp_join(struct stamp *s, const struct stamp *with)
{
    widen(s, with->count);
    for (uint32_t t = 0; t < with->count; t++)
        if (s->at[t] < with->at[t])
            s->at[t] = with->at[t];
}

void stamp_copy(struct stamp *to, const struct stamp *from)
{
    if (to->count > 0)
        memset(to->at, 0, to->count * sizeof *to->at);
    stamp_join(to, from);
}

/* ---- operations by number ---- */

enum { FORGET_FROM = 4096 }; /* so many are worth the walk */

struct place {
    uint32_t timeline, index;
};

struct began { /* of one timeline, ascending */
    struct place_in_time {
        uint32_t index, number;
    } * at;
    uint32_t count, capacity;
};

static struct {
    struct place *places; /* of number first, first + 1, ... */
    uint32_t first, count, capacity;
    struct began *began; /* by timeline */
    uint32_t timelines;
    struct stamp current; /* of the operation that runs */
} known;

static void *grown(void *old, uint32_t *capacity, size_t bytes)
{
    *capacity = *capacity ? 2 * *capacity : 64;
    void *more = realloc(old, *capacity * bytes);
    if (!more)
        BUG("out of memory for %u operations", *capacity);
    return more;
}

/* The first one of a timeline with an index above `index`; count if there is none. */
static uint32_t first_above(const struct began *b, uint32_t index)
{
    uint32_t low = 0, high = b->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (b->at[middle].index > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static uint32_t oldest_unordered(const struct stamp *stamp)
{
    uint32_t oldest = 0;
    for (uint32_t t = 0; t < known.timelines; t++) {
        const struct began *b = &known.began[t];
        uint32_t first = first_above(b, stamp_at(stamp, t));
        if (first < b->count && (oldest == 0 || b->at[first].number < oldest))
            oldest = b->at[first].number;
    }
    return oldest;
}

static bool comes_before(void *context, uint32_t earlier)
{
    (void)context;
    if (earlier < known.first || earlier - known.first >= known.count)
        return true;
    const struct place *p = &known.places[earlier - known.first];
    return p->index <= stamp_at(&known.current, p->timeline);
}

static void note(uint32_t timeline, uint32_t index, uint32_t number)
{
    if (timeline >= known.timelines) {
        known.began = realloc(known.began, (timeline + 1) * sizeof *known.began);
        if (!known.began)
            BUG("out of memory for %u timelines", timeline + 1);
        memset(known.began + known.timelines, 0,
               (timeline + 1 - known.timelines) * sizeof *known.began);
        known.timelines = timeline + 1;
    }
    struct began *b = &known.began[timeline];
    if (b->count == b->capacity)
        b->at = grown(b->at, &b->capacity, sizeof *b->at);
    b->at[b->count++] = (struct place_in_time){index, number};
    if (known.count == 0)
        known.first = number;
    /* A number of the machine's own (a launch that nobody announced) comes after everything. */
    while (known.first + known.count <= number) {
        if (known.count == known.capacity)
            known.places = grown(known.places, &known.capacity, sizeof *known.places);
        known.places[known.count++] = (struct place){0, 0};
    }
    known.places[number - known.first] = (struct place){timeline, index};
}

void order_begin(const struct stamp *stamp, uint32_t timeline, uint32_t index, const char *what)
{
    stamp_copy(&known.current, stamp);
    struct vm_operation operation = {
        .oldest_unordered = oldest_unordered(stamp),
        .comes_before = comes_before,
        .what = what,
    };
    note(timeline, index, vm_begin_operation(rt.vm, &operation));
}

void order_forget(const struct stamp *host)
{
    uint32_t oldest = known.first + known.count;
    if (known.count < FORGET_FROM)
        return;
    for (uint32_t t = 0; t < known.timelines; t++) {
        struct began *b = &known.began[t];
        uint32_t first = first_above(b, stamp_at(host, t));
        if (first > 0)
            memmove(b->at, b->at + first, (b->count - first) * sizeof *b->at);
        b->count -= first;
        if (b->count > 0 && b->at[0].number < oldest)
            oldest = b->at[0].number;
    }
    uint32_t gone = oldest - known.first;
    if (gone > 0)
        memmove(known.places, known.places + gone, (known.count - gone) * sizeof *known.places);
    known.count -= gone;
    known.first = oldest;
}
