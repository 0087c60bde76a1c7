/* The buffer is one pool for the whole device. A late store is in a chain with the others to its
 * sector, oldest first, where loads look for it; in the list of its owner - its warp until it is
 * published, then its block, then nobody - where fences find it; and in a dense array, from which
 * the next to drain is drawn. Accesses are aligned to their size, 32 bytes at most, so that none
 * crosses a sector. Draining a store drains the older ones to the same bytes first.
 *
 * Thousands may wait, and each is looked at by many accesses to words beside it: what that takes is
 * apart, in a struct link, and stores that come one after the other are neighbours in the pool. */
#include "cpu/vm/delay.h"
#include "cpu/vm/sched.h"

#include <stdlib.h>
#include <string.h>

enum { POOL = 4096, BUCKETS = 4096, SECTOR = 32, NONE = 0 };
enum { LATE_IN = 8 }; /* one store of so many is seen at once */

struct link {
    uint64_t sector;
    uint32_t mask;    /* which bytes of it */
    uint32_t younger; /* in the chain of its bucket */
};

struct late {
    uint8_t data[VM_ACCESS_MOST];
    uint8_t *host;
    struct block *block; /* NULL: it has ended */
    uint32_t *list;      /* the head of its owner's list */
    uint32_t previous, next;
    uint32_t at; /* in live[] */
    uint8_t bytes, lane;
    bool published;
};

struct vm_delay {
    struct late pool[POOL]; /* [NONE] is not used */
    struct link links[POOL];
    uint32_t oldest[BUCKETS], youngest[BUCKETS];
    uint32_t live[POOL], count;
    uint32_t free;                 /* list through `next` of what was in use */
    uint32_t fresh;                /* from here on nothing was, since the buffer was empty */
    uint32_t ended;                /* list of blocks that have ended */
    uint64_t rng_key, rng_counter; /* its own: which threads run when stays the same without it */
    uint32_t drain_in;             /* one turn in so many drains one; 0 = none does */
    uint8_t *host[VM_LANES];       /* of the lanes of the store under way */
};

static uint32_t bucket_of(uint64_t sector)
{
    return (uint32_t)(sector * 0x9e3779b97f4a7c15u >> 40) % BUCKETS;
}

static uint32_t mask_of(uint64_t address, unsigned bytes)
{
    return (uint32_t)((1ull << bytes) - 1) << address % SECTOR;
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
        d->fresh = 1;
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

static bool overlaps(const struct link *l, uint64_t sector, uint32_t mask)
{
    return (l->mask & mask) && l->sector == sector;
}

/* Takes store k out of the chain, where `older` comes before it (NONE: nobody). */
static void unchain(struct vm_delay *d, uint32_t bucket, uint32_t k, uint32_t older)
{
    uint32_t younger = d->links[k].younger;
    if (older)
        d->links[older].younger = younger;
    else
        d->oldest[bucket] = younger;
    if (!younger)
        d->youngest[bucket] = older;
}

/* false: the bytes were there already. */
static bool copy_changes(uint8_t *to, const uint8_t *from, unsigned bytes)
{
    if (bytes == sizeof(uint32_t)) { /* nearly always */
        bool changes = memcmp(to, from, sizeof(uint32_t)) != 0;
        memcpy(to, from, sizeof(uint32_t));
        return changes;
    }
    bool changes = memcmp(to, from, bytes) != 0;
    memcpy(to, from, bytes);
    return changes;
}

static void put_into_memory(struct vm_engine *e, uint32_t k)
{
    struct vm_delay *d = e->delay;
    struct late *s = &d->pool[k];
    e->version += copy_changes(s->host, s->data, s->bytes);
    delist(d, k);
    d->live[s->at] = d->live[--d->count];
    d->pool[d->live[s->at]].at = s->at;
    s->next = d->free;
    d->free = k;
    if (d->count == 0) {
        d->free = NONE;
        d->fresh = 1;
    }
}

/* The oldest store to some of the bytes of store k: k itself if there is no older one. Sets who
 * comes before it in the chain. */
static uint32_t oldest_under(const struct vm_delay *d, uint32_t k, uint32_t *older)
{
    const struct link *own = &d->links[k];
    uint32_t at = d->oldest[bucket_of(own->sector)];
    *older = NONE;
    while (at != k && !overlaps(&d->links[at], own->sector, own->mask)) {
        *older = at;
        at = d->links[at].younger;
    }
    return at;
}

/* Store k, after the older ones to its bytes, and the older ones to theirs. */
static void drain(struct vm_engine *e, uint32_t k)
{
    struct vm_delay *d = e->delay;
    uint32_t older, at, bucket = bucket_of(d->links[k].sector);
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
    uint64_t sector = address / SECTOR;
    uint32_t newest = NONE, mask = mask_of(address, bytes);
    for (uint32_t k = d->oldest[bucket_of(sector)]; k; k = d->links[k].younger)
        if (overlaps(&d->links[k], sector, mask) && sees(w, lane, &d->pool[k]))
            newest = k;
    if (newest)
        drain(w->engine, newest);
}

/* The bytes of memory with those on top that the lane sees. */
static uint8_t *read_through(struct warp *w, unsigned lane, uint64_t address, unsigned bytes,
                             uint8_t *host)
{
    struct vm_delay *d = w->engine->delay;
    uint64_t sector = address / SECTOR;
    uint32_t mask = mask_of(address, bytes);
    uint8_t *seen = w->bounce.bytes[lane];
    bool any = false;
    for (uint32_t k = d->oldest[bucket_of(sector)]; k; k = d->links[k].younger) {
        const struct late *s = &d->pool[k];
        if (!overlaps(&d->links[k], sector, mask) || !sees(w, lane, s))
            continue;
        if (!any)
            memcpy(seen, host, bytes);
        any = true;
        for (uint32_t rest = d->links[k].mask & mask; rest; rest &= rest - 1) {
            unsigned b = (unsigned)__builtin_ctz(rest);
            seen[b - address % SECTOR] = s->data[b - (unsigned)__builtin_ctz(d->links[k].mask)];
        }
    }
    return any ? seen : host;
}

uint8_t *delay_reach(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t address,
                     uint8_t *host)
{
    struct vm_delay *d = w->engine->delay;
    if (op->strength == VM_PLAIN && !op->write)
        return w->late || w->block->late ? read_through(w, lane, address, op->total, host) : host;
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
    uint64_t address = w->bounce_offset[lane], sector = address / SECTOR;
    uint32_t k = d->free, bucket = bucket_of(sector);
    if (k)
        d->free = d->pool[k].next;
    else
        k = d->fresh++;
    struct late *s = &d->pool[k];
    s->host = d->host[lane];
    s->bytes = op->total;
    s->lane = (uint8_t)lane;
    s->published = false;
    s->block = w->block;
    s->at = d->count;
    memcpy(s->data, w->bounce.bytes[lane], sizeof s->data);
    d->links[k] = (struct link){sector, mask_of(address, op->total), NONE};
    d->live[d->count++] = k;
    enlist(d, k, &w->late);
    if (d->youngest[bucket])
        d->links[d->youngest[bucket]].younger = k;
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
