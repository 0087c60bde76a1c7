/* Races on shared memory, by happens-before.
 *
 * Time has two scales. A barrier of the whole block starts a new *epoch*: accesses of different
 * epochs are ordered. Within an epoch every warp counts its *.sync operations (events): two lanes
 * of a warp are ordered if an operation whose mask names both lies between their accesses. That is
 * kept as the event of the last operation of all live lanes, and, once an operation names only some
 * lanes, as a table of what each lane knows of each other one (vector clocks, Fidge and Mattern).
 * Warps among each other have such a table too, for barriers of some warps only.
 *
 * Per word of shared memory (per byte where a kernel has accesses of 1 or 2 bytes) the shadow holds
 * the last write, the first read since, and the last read of another thread: as in FastTrack
 * (Flanagan and Freund, PLDI 2009), cut down to what names a pair of lines. Nothing here depends on
 * which of two unordered accesses came first.
 *
 * What is no race: two atomics or other strong accesses; volatile accesses of different warps
 * (flags); a loop that polls a volatile; lanes of one store that write the same value. Volatile
 * accesses of one warp without a sync in between are one: that is code that relies on lock-step. */
#include "cpu/vm/check.h"
#include "cpu/vm/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 1024, WORDS = 1024 };

/* ---- blocks ---- */

static void forget_words(struct race_block *r)
{
    if (r->word_count)
        memset(r->words, 0, WORDS * sizeof *r->words);
    r->word_count = 0;
}

void vm_race_block_start(struct block *b)
{
    struct vm_engine *e = b->engine;
    uint32_t shift = e->code->narrow_shared ? 0 : 2;
    uint32_t units = (b->shared_end >> shift) + 1;
    struct race_block *r = b->races;
    if (!r || r->units < units || r->shift != shift) {
        vm_race_block_free(b);
        r = b->races = calloc(1, sizeof *r);
        uint64_t *words = calloc((size_t)3 * units, sizeof *words);
        if (!r || !words)
            BUG("out of memory for the shadow of shared memory");
        r->write = words;
        r->first_read = words + units;
        r->last_read = words + 2 * (size_t)units;
        r->units = units;
        r->shift = shift;
    }
    vm_race_barrier(b, 0, true); /* what an earlier block did there is past */
    forget_words(r);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        b->warps[k].clocks = &r->clocks[k];
        b->warps[k].sync_events = 1;
        b->warps[k].full_event = 0;
        b->warps[k].partial_events = false;
    }
}

void vm_race_block_free(struct block *b)
{
    if (b->races) {
        free(b->races->write);
        free(b->races->words);
    }
    free(b->races);
    b->races = NULL;
}

static void new_epoch(struct race_block *r)
{
    if (++r->epoch < EPOCH_MOST)
        return;
    memset(r->write, 0, (size_t)3 * r->units * sizeof *r->write);
    r->epoch = 1;
}

void vm_race_barrier(struct block *b, uint32_t warps, bool everybody)
{
    struct race_block *r = b->races;
    if (!r)
        return;
    if (everybody) {
        new_epoch(r);
        if (r->partial)
            memset(r->known, 0, sizeof r->known);
        r->partial = r->lenient = false;
        return;
    }
    uint32_t joint[VM_WARPS_MOST] = {0};
    r->partial = true;
    for (uint32_t k = 0; k < b->warp_count; k++)
        for (uint32_t of = 0; (warps >> k & 1) && of < b->warp_count; of++)
            joint[of] = r->known[k][of] > joint[of] ? r->known[k][of] : joint[of];
    for (uint32_t k = 0; k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        if (!(warps >> k & 1))
            continue;
        vm_race_warp_sync(w, w->live);
        joint[k] = w->sync_events;
    }
    for (uint32_t k = 0; k < b->warp_count; k++)
        if (warps >> k & 1)
            memcpy(r->known[k], joint, sizeof joint);
}

/* ---- operations within a warp ---- */

/* Keeps the warp's events within their bits: a new epoch forgets all of them. */
static void tick(struct warp *w)
{
    if (w->sync_events >= EVENT_MOST) {
        new_epoch(w->block->races);
        w->sync_events = 1;
        w->full_event = 0;
        w->partial_events = false;
        forget_words(w->block->races);
        for (uint32_t k = 0; k < w->block->warp_count; k++)
            w->block->races->known[k][w->index] = 0;
    }
}

void vm_race_warp_sync(struct warp *w, uint32_t m)
{
    struct warp_clock *c = w->clocks;
    if (!c)
        return;
    w->sync_events++;
    tick(w);
    if ((m & w->live) == w->live) {
        w->full_event = w->sync_events;
        w->partial_events = false;
        return;
    }
    if (!w->partial_events) {
        memset(c->known, 0, sizeof c->known);
        w->partial_events = true;
    }
    uint32_t joint[VM_LANES] = {0};
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        const uint32_t *known = c->known[__builtin_ctz(rest)];
        for (unsigned of = 0; of < VM_LANES; of++)
            joint[of] = known[of] > joint[of] ? known[of] : joint[of];
    }
    for (uint32_t rest = m; rest; rest &= rest - 1)
        joint[__builtin_ctz(rest)] = w->sync_events;
    for (uint32_t rest = m; rest; rest &= rest - 1)
        memcpy(c->known[__builtin_ctz(rest)], joint, sizeof joint);
}

/* ---- flags and locks ---- */

static struct sync_word *find_word(struct race_block *r, uint64_t key, bool make)
{
    if (!r->words)
        r->words = make ? calloc(WORDS, sizeof *r->words) : NULL;
    if (!r->words)
        return NULL;
    for (uint64_t at = key * 0x9e3779b97f4a7c15u >> 32;; at++) {
        struct sync_word *word = &r->words[at % WORDS];
        if (word->key == key)
            return word;
        if (word->key)
            continue;
        if (!make)
            return NULL;
        if (r->word_count >= WORDS / 2) {
            r->lenient = true;
            return NULL;
        }
        r->word_count++;
        word->key = key;
        return word;
    }
}

/* Message passing, as the memory model has it: fence and strong write here, strong read there. The
 * knowledge that passes is the warp's as a whole: lanes are not told apart, so some races between a
 * lock's users within a warp go unseen, and none is made up. */
static void pass_knowledge(struct warp *w, const struct mem_op *op, uint64_t key)
{
    struct race_block *r = w->block->races;
    bool reads = !op->write || op->sub != PTX_SUB_NONE; /* atomics do both */
    uint32_t *mine = r->known[w->index];
    struct sync_word *word = reads ? find_word(r, key, false) : NULL;
    if (word) {
        r->partial = true;
        for (uint32_t k = 0; k < w->block->warp_count; k++)
            mine[k] = word->known[k] > mine[k] ? word->known[k] : mine[k];
    }
    bool releases = op->releases || op->in->sem == PTX_RELEASE || op->in->sem == PTX_ACQ_REL ||
                    op->in->sem == PTX_SC || w->fenced;
    if (!op->write || !releases || !(word = find_word(r, key, true)))
        return;
    w->sync_events++;
    for (uint32_t k = 0; k < w->block->warp_count; k++)
        word->known[k] = mine[k];
    word->known[w->index] = w->sync_events;
}

void vm_race_flags(struct warp *w, const struct mem_op *op, uint32_t m)
{
    if (!w->engine->code->uses_fences)
        return;
    for (uint32_t rest = m; rest; rest &= rest - 1)
        pass_knowledge(w, op, w->lane_address[__builtin_ctz(rest)] + 1);
    tick(w);
}

/* ---- accesses ---- */

static bool ordered(const struct warp *w, unsigned lane, uint64_t entry)
{
    uint32_t other = race_thread_of(entry), event = race_event_of(entry);
    const struct race_block *r = w->block->races;
    if (r->partial && r->known[w->index][other / VM_LANES] > event)
        return true;
    if (other / VM_LANES != w->index)
        return r->lenient;
    if (event < w->full_event)
        return true;
    return w->partial_events && w->clocks->known[lane][other % VM_LANES] > event;
}

/* May two unordered accesses of this strength meet? */
static bool tolerated(uint32_t a, uint32_t b, bool same_warp)
{
    if (a == VM_PLAIN || b == VM_PLAIN)
        return false;
    if (a == VM_IS_VOLATILE && b == VM_IS_VOLATILE)
        return !same_warp;
    return true;
}

static bool first_time(struct vm_engine *e, uint32_t a, uint32_t b)
{
    uint64_t key = ((uint64_t)a << 32 | b) + 1;
    if (!e->race_pairs)
        e->race_pairs = calloc(PAIRS, sizeof *e->race_pairs);
    if (!e->race_pairs || e->race_pair_count >= PAIRS / 2)
        return false;
    for (uint64_t at = key * 0x9e3779b97f4a7c15u >> 40;; at++) {
        uint64_t *slot = &e->race_pairs[at % PAIRS];
        if (*slot == key)
            return false;
        if (*slot == 0) {
            *slot = key;
            e->race_pair_count++;
            return true;
        }
    }
}

static void thread_name(const struct warp *w, uint32_t thread, char *out, size_t out_bytes)
{
    const uint32_t *shape = w->engine->launch->block;
    snprintf(out, out_bytes, "(%u,%u,%u)", thread % shape[0], thread / shape[0] % shape[1],
             thread / shape[0] / shape[1]);
}

/* The finding stands at the write; of two writes, at the one at the higher pc, whichever came
 * first, so that every schedule says the same. */
static void report(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t entry,
                   bool other_writes)
{
    struct vm_engine *e = w->engine;
    uint32_t here = op->pc, there = race_pc_of(entry), mine = w->index * VM_LANES + lane;
    uint32_t other = race_thread_of(entry);
    bool at_other = other_writes && (!op->write || there > here);
    if (!first_time(e, at_other ? there : here, at_other ? here : there))
        return;
    struct vm_site site;
    char place[160], line[96], name[48];
    const struct ptx_instr *second = e->code->origins[at_other ? here : there];
    struct warp *owner = &w->block->warps[at_other ? other / VM_LANES : w->index];
    vm_site_of(owner, at_other ? there : here, (int)(at_other ? other % VM_LANES : lane), &site);
    check_describe(w, op, w->lane_address[lane], place, sizeof place);
    thread_name(w, at_other ? mine : other, name, sizeof name);
    bool both_write = other_writes && op->write;
    bool same_warp = other / VM_LANES == w->index;
    vm_report(e->vm, FINDING_data_race, WIRE_ERROR, &site,
              "writes %s while thread %s %s it at %s: nothing orders the two%s", place, name,
              both_write ? "writes" : "reads",
              vm_describe_loc(e->vm, e->code->module, second ? second->loc : 0, line, sizeof line),
              same_warp ? " (lanes of a warp do not run in lock-step; __syncwarp orders them)"
                        : " (a __syncthreads is missing)");
}

static void look(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t mine,
                 uint64_t entry, bool other_writes)
{
    if (!race_meets(entry, mine))
        return;
    bool same_warp = race_thread_of(entry) / VM_LANES == w->index;
    if (tolerated(race_strength_of(entry), race_strength_of(mine), same_warp) ||
        ordered(w, lane, entry))
        return;
    report(w, op, lane, entry, other_writes);
}

/* An access that stands for an earlier one of the same thread, with no sync in between, must not
 * hide that the earlier one was weaker. */
static uint64_t succeed(uint64_t old, uint64_t mine)
{
    bool same = old >> RACE_EPOCH_SHIFT == mine >> RACE_EPOCH_SHIFT &&
                race_thread_of(old) == race_thread_of(mine) &&
                race_event_of(old) == race_event_of(mine);
    return same && race_strength_of(old) < race_strength_of(mine) ? old : mine;
}

void vm_race_access(struct warp *w, const struct mem_op *op, uint32_t m)
{
    struct race_block *r = w->block->races;
    uint32_t shift = r->shift, per_lane = (op->total + (1u << shift) - 1) >> shift;
    uint64_t base = race_pack(r->epoch, w->index * VM_LANES, op->strength, w->sync_events, op->pc);
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t mine = base + ((uint64_t)lane << RACE_THREAD_SHIFT);
        uint32_t first = (uint32_t)w->lane_address[lane] >> shift;
        for (uint32_t unit = first; unit < first + per_lane && unit < r->units; unit++) {
            look(w, op, lane, mine, r->write[unit], true);
            if (op->write) {
                look(w, op, lane, mine, r->first_read[unit], false);
                look(w, op, lane, mine, r->last_read[unit], false);
            } else if (!race_meets(r->first_read[unit], mine)) {
                r->first_read[unit] = succeed(r->first_read[unit], mine);
            } else {
                r->last_read[unit] = succeed(r->last_read[unit], mine);
            }
        }
    }
    /* After all lanes have looked: those of one store do not race with each other here. */
    for (uint32_t rest = op->write ? m : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t first = (uint32_t)w->lane_address[lane] >> shift;
        for (uint32_t unit = first; unit < first + per_lane && unit < r->units; unit++)
            r->write[unit] = succeed(r->write[unit], base + ((uint64_t)lane << RACE_THREAD_SHIFT));
    }
    if (op->strength != VM_PLAIN)
        vm_race_flags(w, op, m);
}

void vm_race_same_store(struct warp *w, const struct mem_op *op, unsigned lane, unsigned other)
{
    struct vm_engine *e = w->engine;
    (void)other;
    if (!first_time(e, op->pc, op->pc))
        return;
    struct vm_site site;
    char place[160];
    vm_site_of(w, op->pc, (int)lane, &site);
    vm_report(e->vm, FINDING_data_race, WIRE_ERROR, &site,
              "several lanes of one warp write different values to %s at once: which one stays is "
              "not defined",
              check_describe(w, op, w->lane_address[lane], place, sizeof place));
}
