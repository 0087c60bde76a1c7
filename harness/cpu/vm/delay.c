/* The buffer is one pool for the whole device. A late store is in a chain with the others to its
 * sector, oldest first, where loads look for it; in the list of its owner - its warp until it is
 * published, then its block, then nobody - where fences find it; and in a dense array, from which
 * the next to drain is drawn. Accesses are aligned to their size, 32 bytes at most, so that none
 * crosses a sector. Draining a store drains the older ones to the same bytes first. */
#include "cpu/vm/delay.h"
#include "cpu/vm/sched.h"

#include <stdlib.h>
#include <string.h>

enum { POOL = 4096, BUCKETS = 4096, SECTOR = 32, NONE = 0 };
enum { LATE_IN = 8 }; /* one store of so many is seen at once */

struct late {
    uint64_t address;
    uint8_t *host;
    uint8_t data[VM_ACCESS_MOST];
    uint8_t bytes, lane;
    bool published;
    struct block *block; /* NULL: it has ended */
    uint32_t *list;      /* the head of its owner's list */
    uint32_t previous, next;
    uint32_t younger; /* in the chain of its bucket */
    uint32_t at;      /* in live[] */
};

struct vm_delay {
    struct late pool[POOL + 1]; /* [NONE] is not used */
    uint32_t oldest[BUCKETS], youngest[BUCKETS];
    uint32_t live[POOL], count;
    uint32_t free;                 /* list through `next` */
    uint32_t ended;                /* list of blocks that have ended */
    uint64_t rng_key, rng_counter; /* its own: which threads run when stays the same without it */
    uint32_t drain_in;             /* one turn in so many drains one; 0 = none does */
    uint8_t *host[VM_LANES];       /* of the lanes of the store under way */
};

static uint32_t bucket_of(uint64_t address)
{
    return (uint32_t)(address / SECTOR * 0x9e3779b97f4a7c15u >> 40) % BUCKETS;
}

static uint64_t draw(struct vm_delay *d, uint64_t bound)
{
    return rng_below(d->rng_key, d->rng_counter++, bound);
}

/* ---- life ---- */

void delay_start(struct vm_engine *e)
{
    static const uint32_t DRAIN_IN[] = {0, 2, 8, 64};
    struct vm_delay *d = e->delay_memory;
    e->delay = NULL;
    if (!e->vm->config.delay_stores)
        return;
    if (!d) {
        d = calloc(1, sizeof *d);
        if (!d)
            BUG("out of memory for late stores");
        for (uint32_t k = 1; k < POOL; k++)
            d->pool[k].next = k + 1;
        d->free = 1;
        e->delay_memory = d;
    }
    d->rng_key = rng_key(e->rng_key, POOL);
    d->rng_counter = 0;
    d->drain_in = DRAIN_IN[draw(d, sizeof DRAIN_IN / sizeof *DRAIN_IN)];
    e->delay = d;
}

void delay_free(struct vm_delay *d)
{
    free(d);
}

/* ---- lists ---- */

static void enlist(struct vm_delay *d, uint32_t k, uint32_t *list)
{
    struct late *s = &d->pool[k];
    s->list = list;
    s->previous = NONE;
    s->next = *list;
    if (*list)
        d->pool[*list].previous = k;
    *list = k;
}

static void delist(struct vm_delay *d, uint32_t k)
{
    struct late *s = &d->pool[k];
    if (s->previous)
        d->pool[s->previous].next = s->next;
    else
        *s->list = s->next;
    if (s->next)
        d->pool[s->next].previous = s->previous;
}

/* ---- to memory ---- */

static bool overlaps(const struct late *s, uint64_t address, unsigned bytes)
{
    return s->address < address + bytes && address < s->address + s->bytes;
}

/* Takes store k out of the chain, where `older` comes before it (NONE: nobody). */
static void unchain(struct vm_delay *d, uint32_t bucket, uint32_t k, uint32_t older)
{
    uint32_t younger = d->pool[k].younger;
    if (older)
        d->pool[older].younger = younger;
    else
        d->oldest[bucket] = younger;
    if (!younger)
        d->youngest[bucket] = older;
}

static void put_into_memory(struct vm_engine *e, uint32_t k)
{
    struct vm_delay *d = e->delay;
    struct late *s = &d->pool[k];
    if (memcmp(s->host, s->data, s->bytes) != 0) {
        memcpy(s->host, s->data, s->bytes);
        e->version++;
    }
    delist(d, k);
    d->live[s->at] = d->live[--d->count];
    d->pool[d->live[s->at]].at = s->at;
    s->next = d->free;
    d->free = k;
}

/* The oldest store to some of the bytes of store k: k itself if there is no older one. Sets who
 * comes before it in the chain. */
static uint32_t oldest_under(const struct vm_delay *d, uint32_t k, uint32_t *older)
{
    const struct late *s = &d->pool[k];
    uint32_t at = d->oldest[bucket_of(s->address)];
    *older = NONE;
    while (at != k && !overlaps(&d->pool[at], s->address, s->bytes)) {
        *older = at;
        at = d->pool[at].younger;
    }
    return at;
}

/* Store k, after the older ones to its bytes, and the older ones to theirs. */
static void drain(struct vm_engine *e, uint32_t k)
{
    struct vm_delay *d = e->delay;
    uint32_t older, at, bucket = bucket_of(d->pool[k].address);
    while ((at = oldest_under(d, k, &older)) != k)
        drain(e, at);
    unchain(d, bucket, k, older);
    put_into_memory(e, k);
}

static void drain_list(struct vm_engine *e, const uint32_t *list)
{
    while (*list)
        drain(e, *list);
}

bool delay_drain_all(struct vm_engine *e)
{
    struct vm_delay *d = e->delay;
    bool any = d && d->count;
    while (d && d->count)
        drain(e, d->live[0]);
    return any;
}

void delay_drain_one(struct vm_engine *e)
{
    if (e->delay && e->delay->count)
        drain(e, e->delay->live[draw(e->delay, e->delay->count)]);
}

void delay_tick(struct vm_engine *e)
{
    struct vm_delay *d = e->delay;
    if (d && d->count && d->drain_in && draw(d, d->drain_in) == 0)
        delay_drain_one(e);
}

/* ---- accesses ---- */

static bool sees(const struct warp *w, unsigned lane, const struct late *s)
{
    if (s->block != w->block)
        return false;
    return s->published || (s->list == &w->late && s->lane == lane);
}

void delay_settle(struct warp *w, unsigned lane, uint64_t address, unsigned bytes)
{
    struct vm_delay *d = w->engine->delay;
    uint32_t newest = NONE;
    for (uint32_t k = d->oldest[bucket_of(address)]; k; k = d->pool[k].younger)
        if (overlaps(&d->pool[k], address, bytes) && sees(w, lane, &d->pool[k]))
            newest = k;
    if (newest)
        drain(w->engine, newest);
}

/* The bytes of memory with those on top that the lane sees. */
static uint8_t *read_through(struct warp *w, unsigned lane, uint64_t address, unsigned bytes,
                             uint8_t *host)
{
    struct vm_delay *d = w->engine->delay;
    uint8_t *seen = w->bounce.bytes[lane];
    bool any = false;
    for (uint32_t k = d->oldest[bucket_of(address)]; k; k = d->pool[k].younger) {
        const struct late *s = &d->pool[k];
        if (!overlaps(s, address, bytes) || !sees(w, lane, s))
            continue;
        if (!any)
            memcpy(seen, host, bytes);
        any = true;
        for (unsigned b = 0; b < s->bytes; b++)
            if (s->address + b - address < bytes)
                seen[s->address + b - address] = s->data[b];
    }
    return any ? seen : host;
}

uint8_t *delay_reach(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                     uint8_t *host)
{
    struct vm_delay *d = w->engine->delay;
    if (op->strength == VM_PLAIN && !op->write)
        return d->count ? read_through(w, lane, address, op->total, host) : host;
    if (op->strength == VM_PLAIN && draw(d, LATE_IN)) {
        d->host[lane] = host;
        w->bounce_offset[lane] = address;
        w->delayed |= 1u << lane;
        return w->bounce.bytes[lane];
    }
    delay_settle(w, lane, address, op->total);
    return host;
}

void delay_put(struct warp *w, const struct mem_op *op, unsigned lane)
{
    struct vm_delay *d = w->engine->delay;
    if (d->count == POOL - 1)
        delay_drain_one(w->engine);
    uint32_t k = d->free, bucket = bucket_of(w->bounce_offset[lane]);
    struct late *s = &d->pool[k];
    d->free = s->next;
    *s = (struct late){.address = w->bounce_offset[lane],
                       .host = d->host[lane],
                       .bytes = op->total,
                       .lane = (uint8_t)lane,
                       .block = w->block,
                       .at = d->count};
    memcpy(s->data, w->bounce.bytes[lane], op->total);
    d->live[d->count++] = k;
    enlist(d, k, &w->late);
    if (d->youngest[bucket])
        d->pool[d->youngest[bucket]].younger = k;
    else
        d->oldest[bucket] = k;
    d->youngest[bucket] = k;
}

/* ---- publishing ---- */

void delay_publish(struct warp *w, uint32_t m, enum delay_scope scope)
{
    struct vm_delay *d = w->engine->delay;
    if (!d)
        return;
    for (uint32_t k = w->late, next; k; k = next) {
        struct late *s = &d->pool[k];
        next = s->next;
        if (!(m >> s->lane & 1))
            continue;
        delist(d, k);
        enlist(d, k, &w->block->late);
        s->published = true;
    }
    if (scope == DELAY_DEVICE)
        drain_list(w->engine, &w->block->late);
}

void vm_publish(struct warp *w, uint32_t m, uint32_t scope)
{
    delay_publish(w, m, (enum delay_scope)scope);
}

void delay_retire(struct block *b)
{
    struct vm_delay *d = b->engine->delay;
    for (uint32_t k = d ? b->late : NONE, next; k; k = next) {
        next = d->pool[k].next;
        delist(d, k);
        enlist(d, k, &d->ended);
        d->pool[k].block = NULL;
    }
}
