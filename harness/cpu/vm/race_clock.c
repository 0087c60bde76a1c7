/* The time of warps, and what they know of each other.
 *
 * Lanes of a warp: the time of the last *.sync operation of all live lanes (warp->full_event), and,
 * once an operation names only some lanes, a table of what each lane knows of each other one
 * (vector clocks, Fidge and Mattern). Warps of a block: the time of the last barrier of all of
 * them, and, once a barrier or a flag orders only some, a table. Blocks among each other: a tree
 * per warp (race_tree.c), whose news only the lanes that learned them may use until the next *.sync
 * operation.
 *
 * A fence keeps what its warp knows then; a later strong write publishes that and not more, so that
 * a fence ahead of the data is none. Barriers hand everything on: knowledge, what strong reads have
 * collected, and fences. */
#include "cpu/vm/check.h"
#include "cpu/vm/race.h"

#include <stdlib.h>
#include <string.h>

enum { OWN_SPACE = 1 << 20 };
#define TIME_MOST (1u << 31) /* the shadow is cleared at the next start of a block */

/* ---- blocks ---- */

void vm_race_block_free(struct block *b)
{
    struct race_block *r = b->races;
    if (!r)
        return;
    free(r->write);
    free(r->split);
    race_words_release(&r->words);
    arena_release(&r->own_space.arena);
    free(r);
    b->races = NULL;
}

static void make_shadow(struct block *b)
{
    struct race_block *r = b->races;
    bool wanted = b->shared_end > VM_SHARED_START;
    uint32_t words = wanted ? (b->shared_end >> 2) + 1 : 0;
    r->narrow = wanted && b->engine->code->narrow_shared;
    if (r->word_count >= words && (r->split || !r->narrow))
        return;
    free(r->write);
    free(r->split);
    r->units = (r->narrow ? 5 : 1) * words;
    r->word_count = words;
    r->write = calloc((size_t)3 * r->units + 1, sizeof *r->write);
    r->split = r->narrow ? calloc((size_t)words + 1, sizeof *r->split) : NULL;
    if (!r->write || (r->narrow && !r->split))
        BUG("out of memory for the shadow of shared memory");
    r->first_read = r->write + r->units;
    r->last_read = r->write + 2 * (size_t)r->units;
}

static void start_clock(struct warp *w, struct warp_clock *c, uint32_t time)
{
    w->clocks = c;
    w->sync_events = w->full_event = time;
    w->partial_events = false;
    c->outer = c->fresh = c->collected = NULL;
    c->fresh_lanes = 0;
    c->fence[RACE_NEAR].valid = c->fence[RACE_DEVICE].valid = c->fenced = false;
    c->segment = 0;
    if (c->reads || c->recent_used)
        memset(c->recent, 0, sizeof c->recent);
    c->recent_used = false;
    c->reads = NULL;
}

void vm_race_block_start(struct block *b)
{
    struct vm_engine *e = b->engine;
    struct race_block *r = b->races;
    if (!r) {
        r = b->races = calloc(1, sizeof *r);
        if (!r)
            BUG("out of memory for the clocks of a block");
    }
    make_shadow(b);
    if (e->global_races) {
        r->space = &e->global_races->space;
    } else {
        r->space = &r->own_space;
        arena_release(&r->own_space.arena);
        r->own_space = (struct race_space){0};
    }
    race_words_clear(&r->words);
    /* All warps that there ever were: an earlier kernel's blocks may have had more. */
    uint32_t time = r->base;
    for (uint32_t k = 0; k < b->warp_capacity; k++)
        time = b->warps[k].sync_events > time ? b->warps[k].sync_events : time;
    if (r->base == 0 || time >= TIME_MOST) {
        if (r->units)
            memset(r->write, 0, (size_t)3 * r->units * sizeof *r->write);
        if (r->split)
            memset(r->split, 0, r->word_count * sizeof *r->split);
        for (uint32_t k = 0; k < b->warp_capacity; k++)
            b->warps[k].sync_events = 0;
        time = 0;
    }
    r->base = ++time; /* what an earlier block did there is past */
    if (r->partial)
        memset(r->known, 0, sizeof r->known);
    r->partial = r->spread = r->joint[RACE_NEAR].valid = r->joint[RACE_DEVICE].valid = false;
    for (uint32_t k = 0; k < b->warp_count; k++)
        start_clock(&b->warps[k], &r->clocks[k], time);
}

/* ---- knowledge ---- */

/* What was learned by some lanes is known to all once a *.sync operation has passed. */
static void settle(struct warp *w)
{
    struct warp_clock *c = w->clocks;
    if (!c->fresh || (w->full_event <= c->fresh_time && (w->live & ~c->fresh_lanes)))
        return;
    c->outer = race_tree_join(w->block->races->space, c->outer, c->fresh);
    c->fresh = NULL;
    c->fresh_lanes = 0;
}

static void learn_of_block(struct warp *w, const void *tree)
{
    struct race_block *r = w->block->races;
    const struct race_leaf *own = race_tree_find(r->space, tree, w->block->index);
    if (!own)
        return;
    r->partial = true;
    for (uint32_t k = 0; k < own->count; k++)
        race_known_join(&r->known[w->index][own->warps[k].warp], &own->warps[k].known);
}

void race_learn(struct warp *w, const void *tree, uint32_t m)
{
    struct race_block *r = w->block->races;
    struct warp_clock *c = w->clocks;
    if (!tree)
        return;
    learn_of_block(w, tree);
    if (r->space->depth == 0)
        return;
    settle(w);
    r->spread = true;
    if ((m & w->live) == w->live) {
        c->outer = race_tree_join(r->space, c->outer, tree);
        return;
    }
    c->fresh = race_tree_join(r->space, c->fresh, tree);
    c->fresh_lanes |= m;
    c->fresh_time = w->sync_events;
}

uint32_t race_synced_lanes(const struct warp *w, uint32_t m)
{
    uint32_t lanes = m;
    if (!w->partial_events)
        return lanes;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        const uint32_t *known = w->clocks->known[__builtin_ctz(rest)];
        for (unsigned of = 0; of < VM_LANES; of++)
            lanes |= (uint32_t)(known[of] > w->full_event) << of;
    }
    return lanes;
}

static bool worth_telling(const struct race_known *k, uint32_t base)
{
    return k->all > base || k->some > base || k->flag >= base;
}

/* own: of the warp itself; row: of the others, NULL = nothing but base. */
static const void *publish(struct warp *w, const void *outer, uint32_t base,
                           const struct race_known *own, const struct race_known *row)
{
    struct race_space *s = w->block->races->space;
    uint32_t count = 0, warps = w->block->warp_count;
    struct race_leaf *leaf =
        race_space_alloc(s, sizeof *leaf + (row ? warps : 1) * sizeof *leaf->warps);
    leaf->base = base;
    for (uint32_t k = 0; k < warps; k++) {
        struct race_known known = row ? row[k] : (struct race_known){0};
        if (k == w->index)
            race_known_join(&known, own);
        if (worth_telling(&known, base))
            leaf->warps[count++] = (struct race_of_warp){.warp = k, .known = known};
    }
    leaf->count = count;
    return race_tree_add(s, outer, w->block->index, leaf);
}

const void *race_present(struct warp *w, uint32_t m, uint32_t flag)
{
    struct race_block *r = w->block->races;
    struct warp_clock *c = w->clocks;
    struct race_known own = {.all = w->full_event,
                             .some = w->sync_events,
                             .lanes = race_synced_lanes(w, m),
                             .flag = flag};
    settle(w);
    const void *outer = race_tree_join(r->space, c->outer, c->fresh_lanes & m ? c->fresh : NULL);
    return publish(w, outer, r->base, &own, r->partial ? r->known[w->index] : NULL);
}

/* ---- fences ---- */

static void keep(struct warp *w, int scope, uint32_t m)
{
    struct race_block *r = w->block->races;
    struct warp_clock *c = w->clocks;
    struct race_fence *f = &c->fence[scope];
    /* Lanes that fence one after the other, without a sync in between, each fence for themselves.
     */
    uint32_t before = f->valid && f->full == w->full_event ? f->lanes : 0;
    f->valid = true;
    f->outer = race_tree_join(r->space, c->outer, c->fresh_lanes & m ? c->fresh : NULL);
    f->base = r->base;
    f->full = w->full_event;
    f->time = w->sync_events;
    f->lanes = race_synced_lanes(w, m) | before;
    f->partial = r->partial;
    if (r->partial)
        memcpy(f->row, r->known[w->index], w->block->warp_count * sizeof *f->row);
}

void vm_fence(struct warp *w, uint32_t m, uint32_t scope)
{
    struct warp_clock *c = w->clocks;
    if (!c)
        return;
    bool device = scope == PTX_SCOPE_GPU || scope == PTX_SCOPE_SYS;
    if (c->collected) {
        if (device || w->block->races->space->depth == 0) {
            race_learn(w, c->collected, m);
            c->collected = NULL;
        } else {
            learn_of_block(w, c->collected);
        }
    }
    settle(w);
    c->fenced = true;
    w->sync_events++;
    keep(w, RACE_NEAR, m);
    if (device)
        keep(w, RACE_DEVICE, m);
}

const void *race_fenced(struct warp *w, int scope, uint32_t m, uint32_t flag)
{
    const struct race_fence *f = &w->clocks->fence[scope], *old = &w->block->races->joint[scope];
    const void *tree = NULL;
    if (old->valid) {
        struct race_known own = {.flag = flag};
        tree = publish(w, old->outer, old->base, &own, old->row);
    }
    if (f->valid) {
        /* Without a sync since then, lanes do not know of each other's fences. */
        bool synced = w->full_event > f->time || w->partial_events;
        struct race_known own = {.all = f->full,
                                 .some = f->time,
                                 .lanes = synced ? f->lanes : f->lanes & m,
                                 .flag = flag};
        const void *mine = publish(w, f->outer, f->base, &own, f->partial ? f->row : NULL);
        tree = race_tree_join(w->block->races->space, tree, mine);
    }
    return tree;
}

/* Before a barrier each warp has its own fences, behind it all have all of them. */
static void join_fences(struct block *b, int scope)
{
    struct race_block *r = b->races;
    struct race_fence *joint = &r->joint[scope];
    for (uint32_t k = 0; k < b->warp_count; k++) {
        struct race_fence *f = &r->clocks[k].fence[scope];
        if (!f->valid)
            continue;
        if (!joint->valid) {
            memset(joint, 0, sizeof *joint);
            joint->valid = true;
        }
        struct race_known own = {.all = f->full, .some = f->time, .lanes = f->lanes};
        joint->base = f->base > joint->base ? f->base : joint->base;
        joint->outer = race_tree_join(r->space, joint->outer, f->outer);
        for (uint32_t of = 0; f->partial && of < b->warp_count; of++)
            race_known_join(&joint->row[of], &f->row[of]);
        race_known_join(&joint->row[k], &own);
        f->valid = false;
    }
}

/* ---- barriers ---- */

/* Trees, collected ones and reads of the warps in `warps` become common to them. */
static void spread(struct block *b, uint32_t warps)
{
    struct race_block *r = b->races;
    const void *outer = NULL, *collected = NULL;
    struct race_read *reads = NULL;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        struct warp_clock *c = &r->clocks[k];
        if (!(warps >> k & 1))
            continue;
        outer = race_tree_join(r->space, outer, race_tree_join(r->space, c->outer, c->fresh));
        collected = race_tree_join(r->space, collected, c->collected);
        if (!reads || c->reads == reads) {
            reads = c->reads;
        } else if (c->reads) {
            struct race_read *both = race_space_alloc(r->space, sizeof *both);
            *both = (struct race_read){.prev = reads, .other = c->reads};
            reads = both;
        }
    }
    for (uint32_t k = 0; k < b->warp_count; k++) {
        struct warp_clock *c = &r->clocks[k];
        if (!(warps >> k & 1))
            continue;
        c->outer = outer;
        c->collected = collected;
        c->fresh = NULL;
        c->fresh_lanes = 0;
        c->reads = reads;
    }
}

/* A block that is looked at alone: all that its flags and fences ever told is past. */
static void start_anew(struct block *b)
{
    struct race_block *r = b->races;
    race_words_clear(&r->words);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        struct warp_clock *c = &r->clocks[k];
        c->outer = c->fresh = c->collected = NULL;
        c->fresh_lanes = 0;
        c->fence[RACE_NEAR].valid = c->fence[RACE_DEVICE].valid = false;
    }
    r->joint[RACE_NEAR].valid = r->joint[RACE_DEVICE].valid = false;
    arena_release(&r->own_space.arena);
    r->own_space = (struct race_space){0};
}

void vm_race_barrier(struct block *b, uint32_t warps, bool everybody)
{
    struct race_block *r = b->races;
    if (!r || !b->warps[0].clocks)
        return;
    if (everybody) {
        uint32_t time = 0;
        for (uint32_t k = 0; k < b->warp_count; k++)
            time = b->warps[k].sync_events > time ? b->warps[k].sync_events : time;
        time++;
        if (r->spread)
            spread(b, ~0u);
        for (int scope = 0; scope < RACE_SCOPES; scope++)
            join_fences(b, scope);
        for (uint32_t k = 0; k < b->warp_count; k++) {
            b->warps[k].sync_events = b->warps[k].full_event = time;
            b->warps[k].partial_events = false;
        }
        r->base = time;
        if (r->space == &r->own_space && r->own_space.arena.total_bytes > OWN_SPACE)
            start_anew(b);
        if (r->partial)
            memset(r->known, 0, sizeof r->known);
        r->partial = r->spread = false;
        return;
    }
    struct race_known joint[VM_WARPS_MOST] = {{0}};
    r->partial = true;
    if (r->spread)
        spread(b, warps);
    for (uint32_t k = 0; k < b->warp_count; k++)
        for (uint32_t of = 0; (warps >> k & 1) && of < b->warp_count; of++)
            race_known_join(&joint[of], &r->known[k][of]);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        if (!(warps >> k & 1))
            continue;
        vm_race_warp_sync(w, w->live);
        joint[k].all = w->sync_events;
    }
    for (uint32_t k = 0; k < b->warp_count; k++)
        if (warps >> k & 1)
            memcpy(r->known[k], joint, sizeof joint);
}

/* ---- operations within a warp ---- */

void vm_race_warp_sync(struct warp *w, uint32_t m)
{
    struct warp_clock *c = w->clocks;
    if (!c)
        return;
    w->sync_events++;
    if ((m & w->live) == w->live) {
        w->full_event = w->sync_events;
        w->partial_events = false;
        return;
    }
    if (c->fresh_lanes & m)
        c->fresh_lanes |= m;
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

/* ---- order ---- */

static bool ordered_in_warp(const struct warp *w, unsigned lane, const struct race_past *past)
{
    if (past->lane == lane || past->time < w->full_event)
        return true;
    return w->partial_events && w->clocks->known[lane][past->lane] > past->time;
}

bool race_ordered(struct warp *w, unsigned lane, const struct race_past *past)
{
    const struct race_block *r = w->block->races;
    struct warp_clock *c = w->clocks;
    if (past->shared || past->block == w->block->index) {
        if (past->time < r->base)
            return true;
        if (past->warp == w->index && ordered_in_warp(w, lane, past))
            return true;
        return r->partial &&
               race_known_covers(&r->known[w->index][past->warp], past->lane, past->time);
    }
    settle(w);
    const struct race_leaf *leaf = race_tree_find(r->space, c->outer, past->block);
    if (leaf && race_leaf_covers(leaf, past->warp, past->lane, past->time))
        return true;
    if (!(c->fresh_lanes >> lane & 1))
        return false;
    leaf = race_tree_find(r->space, c->fresh, past->block);
    return leaf && race_leaf_covers(leaf, past->warp, past->lane, past->time);
}
