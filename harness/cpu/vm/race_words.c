/* Flags, tickets, locks: words that are written and read strongly (volatile, relaxed, atomics).
 *
 * A word holds what its last writer released: the knowledge at the writer's last fence, or, where
 * the write itself releases, of now; for everybody, and for the writer's own block. An atomic adds
 * to that, because it continues the release sequence; another write replaces it. A strong read
 * collects what it finds; an acquiring one, or a fence later on, turns that into knowledge.
 *
 * Beside that a graph is kept of who read what from whom, whatever the fences: see
 * race_verdict.c. */
#include "cpu/vm/race.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_FIRST = 256, WORDS_MOST = 4 << 20 };

/* ---- the table ---- */

static uint32_t slot_of(uint64_t key, uint32_t capacity)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (capacity - 1);
}

static void grow(struct race_words *t)
{
    struct race_words wider = {.capacity = t->capacity ? 4 * t->capacity : WORDS_FIRST};
    wider.at = calloc(wider.capacity, sizeof *wider.at);
    if (!wider.at)
        BUG("out of memory for %u words that threads wait for", wider.capacity);
    for (uint32_t k = 0; k < t->capacity; k++)
        if (t->at[k].key)
            *race_find_word(&wider, t->at[k].key, true) = t->at[k];
    free(t->at);
    *t = wider;
}

struct race_word *race_find_word(struct race_words *t, uint64_t key, bool make)
{
    if (make && t->count >= t->capacity / 2)
        grow(t);
    if (!t->capacity)
        return NULL;
    for (uint32_t at = slot_of(key, t->capacity);; at = (at + 1) & (t->capacity - 1)) {
        struct race_word *word = &t->at[at];
        if (word->key == key)
            return word;
        if (word->key)
            continue;
        if (!make)
            return NULL;
        t->count++;
        word->key = key;
        return word;
    }
}

void race_words_clear(struct race_words *t)
{
    if (t->count)
        memset(t->at, 0, t->capacity * sizeof *t->at);
    t->count = 0;
}

void race_words_release(struct race_words *t)
{
    free(t->at);
    *t = (struct race_words){0};
}

struct race_words *race_words_of(struct warp *w, uint64_t key)
{
    struct race_global *g = w->engine->global_races;
    return g && key > VM_SHARED_BYTES ? &g->words : &w->block->races->words;
}

/* ---- strong accesses ---- */

/* Does anybody learn anything from strong accesses of this kernel? */
static bool matters(const struct warp *w)
{
    const struct vm_engine *e = w->engine;
    return e->code->uses_fences || (e->global_races && e->global_races->reads_strongly);
}

struct publication {
    bool atomic, graph;
    const void *device, *near;
};

/* What a strong write of lanes m releases. */
static struct publication publication(struct warp *w, const struct mem_op *op, uint32_t m)
{
    struct warp_clock *c = w->clocks;
    struct publication p = {.atomic = op->sub != PTX_SUB_NONE, .graph = w->engine->global_races};
    bool wide = op->strength != VM_STRONG_CTA;
    uint32_t flag = w->sync_events;
    if (op->releases || op->in->sem == PTX_RELEASE || op->in->sem == PTX_ACQ_REL ||
        op->in->sem == PTX_SC) {
        p.near = race_present(w, m, flag);
        p.device = wide ? p.near : NULL;
        return p;
    }
    if (!c->fenced && !w->block->races->joint[RACE_NEAR].valid)
        return p;
    p.device = wide ? race_fenced(w, RACE_DEVICE, m, flag) : NULL;
    const struct race_fence *near = &c->fence[RACE_NEAR], *far = &c->fence[RACE_DEVICE];
    bool same =
        near->valid == far->valid && (!near->valid || near->time == far->time) &&
        w->block->races->joint[RACE_NEAR].valid == w->block->races->joint[RACE_DEVICE].valid;
    p.near = wide && same ? p.device : race_fenced(w, RACE_NEAR, m, flag);
    return p;
}

static void write_word(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t key,
                       const struct publication *p)
{
    struct race_block *r = w->block->races;
    struct race_words *table = race_words_of(w, key);
    if (table->count >= WORDS_MOST) {
        r->space->full = true;
        return;
    }
    struct race_word *word = race_find_word(table, key, true);
    const void *old_near = word->near_block == w->block->index ? word->near : NULL;
    bool both = p->near == p->device && old_near == word->device; /* the usual case */
    word->device = p->atomic ? race_tree_join(r->space, word->device, p->device) : p->device;
    word->near = both        ? word->device
                 : p->atomic ? race_tree_join(r->space, old_near, p->near)
                             : p->near;
    word->near_block = w->block->index;
    struct race_write *last = word->last;
    if (!p->graph)
        return;
    if (last && last->time == w->sync_events && last->block == w->block->index &&
        last->warp == w->index) {
        last->lanes |= 1u << lane;
        last->synced |= race_synced_lanes(w, 1u << lane);
        return;
    }
    word->last = race_space_alloc(r->space, sizeof *last);
    *word->last = (struct race_write){.prev = p->atomic ? last : NULL,
                                      .knows = w->clocks->reads,
                                      .device = word->device,
                                      .near = word->near,
                                      .key = key,
                                      .block = w->block->index,
                                      .warp = w->index,
                                      .lanes = 1u << lane,
                                      .time = w->sync_events,
                                      .base = r->base,
                                      .pc = op->pc,
                                      .full = w->full_event,
                                      .synced = race_synced_lanes(w, 1u << lane),
                                      .fenced = w->clocks->fenced};
}

static void note_read(struct warp *w, uint64_t key, struct race_write *saw, enum race_through meant)
{
    struct warp_clock *c = w->clocks;
    unsigned at = (unsigned)(key * 0x9e3779b97f4a7c15u >> 58);
    if (!saw ||
        (c->recent[at].key == key && c->recent[at].saw == saw && c->recent[at].meant >= meant))
        return;
    c->recent_used = true;
    c->recent[at].key = key;
    c->recent[at].saw = saw;
    c->recent[at].meant = meant;
    struct race_read *read = race_space_alloc(w->block->races->space, sizeof *read);
    *read = (struct race_read){.prev = c->reads, .saw = saw, .meant = meant};
    c->reads = read;
    w->block->races->spread = true;
}

static void read_word(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t key,
                      bool acquires)
{
    struct race_block *r = w->block->races;
    struct warp_clock *c = w->clocks;
    const struct race_word *word = race_find_word(race_words_of(w, key), key, false);
    if (!word)
        return;
    const void *found[2] = {op->strength == VM_STRONG_CTA ? NULL : word->device,
                            word->near_block == w->block->index ? word->near : NULL};
    for (int k = 0; k < 2; k++) {
        if (!found[k] || (k && found[1] == found[0]))
            continue;
        if (acquires) {
            race_learn(w, found[k], 1u << lane);
            continue;
        }
        c->collected = race_tree_join(r->space, c->collected, found[k]);
        r->spread = true;
    }
    if (!w->engine->global_races)
        return;
    note_read(w, key, word->last, op->waits ? RACE_WAITED : op->decides ? RACE_MEANT : RACE_ALL);
    if (!op->write && !op->waits && word->last && word->last->prev)
        race_judge_sum(w, op, lane, word);
}

/* A lane's access covers these words of 4 bytes. */
static uint32_t words_covered(const struct mem_op *op)
{
    return op->total > 4 ? op->total / 4u : 1;
}

void race_strong_begin(struct warp *w, const struct mem_op *op, uint32_t m)
{
    if (!matters(w))
        return;
    w->sync_events++;
    if (w->block->races->space->full)
        return;
    bool reads = !op->write || op->sub != PTX_SUB_NONE;
    bool acquires = op->releases || op->in->sem == PTX_ACQUIRE || op->in->sem == PTX_ACQ_REL ||
                    op->in->sem == PTX_SC;
    if (op->in->op == PTX_OP_red)
        reads = false;
    for (uint32_t rest = reads ? m : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t key = (w->lane_address[lane] & ~3ull) + 1;
        for (uint32_t k = 0; k < words_covered(op); k++)
            read_word(w, op, lane, key + 4ull * k, acquires);
    }
}

void race_strong_end(struct warp *w, const struct mem_op *op, uint32_t m)
{
    if (!matters(w) || w->block->races->space->full)
        return;
    if (op->write) {
        struct publication p = publication(w, op, m);
        for (uint32_t rest = m; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            uint64_t key = (w->lane_address[lane] & ~3ull) + 1;
            for (uint32_t k = 0; k < words_covered(op); k++) {
                write_word(w, op, lane, key + 4ull * k, &p);
                if (w->engine->global_races && w->engine->global_races->suspect_count)
                    race_acquit(w, lane, key + 4ull * k);
            }
        }
    }
    w->sync_events++;
}

void vm_race_flags(struct warp *w, const struct mem_op *op, uint32_t m)
{
    race_strong_begin(w, op, m);
    race_strong_end(w, op, m);
}
