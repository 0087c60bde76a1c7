/* Races on global memory: the shadows of allocations.
 *
 * A shadow is made when an allocation is first touched by a kernel that is looked at. Per word of 4
 * bytes (per byte, from the first access of 1 or 2 bytes on) it holds what the shadow of shared
 * memory holds: the last write, the first read, the last read of another thread; and the last
 * strong write apart, since it says nothing of the plain ones before it. An entry names a
 * segment, which is a warp at one time of its life; numbers of segments only grow, so that one
 * comparison tells that an entry is older than the launch.
 *
 * Once all shadows together would need more than SHADOW_MOST bytes, allocations that have none stay
 * without: nothing is found in them. */
#include "cpu/vm/check.h"
#include "cpu/vm/race.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20, HUGE_FROM_BYTES = 256 << 10 };
#define SHADOW_MOST   (2ull << 30)
#define SPARE_MOST    (256ull << 20) /* larger mappings are given back at once */
#define SEGMENTS_MOST (1u << 31)     /* all shadows are forgotten at the next launch */
#define STEPS_MOST    (20u << 20)    /* of searches in one launch, see race_verdict.c */
#define ROWS_KEPT     (1u << 20)     /* of earlier launches */
#define ROWS_MOST     (64u << 20)

static void *must(void *p)
{
    if (!p)
        BUG("out of memory for the order of accesses");
    return p;
}

/* ---- launches ---- */

/* Keeps the mapping for another shadow, in place of the smallest that is kept: its entries are
 * older than whatever is allocated next. Within a launch they are not. */
static void unmap(struct race_global *g, void *p, uint64_t bytes)
{
    struct race_spare given = {.p = p, .bytes = bytes}, *least = &g->spares[0];
    for (int k = 1; k < RACE_SPARES; k++)
        if (g->spares[k].bytes < least->bytes)
            least = &g->spares[k];
    if (given.bytes > least->bytes && given.bytes <= SPARE_MOST && !g->running) {
        struct race_spare swap = *least;
        *least = given;
        given = swap;
    }
    if (given.bytes)
        munmap(given.p, given.bytes);
    g->shadow_bytes -= given.bytes;
}

void vm_race_forget(struct vm *vm, struct vm_allocation *a)
{
    struct race_shadow *s = a->shadow;
    if (!s)
        return;
    if (s->write)
        unmap(vm->races, s->write, s->bytes);
    free(s);
    a->shadow = NULL;
}

static void forget_all(struct vm *vm)
{
    for (size_t k = 0; k < vm->device_count; k++)
        vm_race_forget(vm, vm->device[k]);
    for (size_t k = 0; k < vm->host_count; k++)
        vm_race_forget(vm, vm->host[k]);
    for (int k = 0; vm->races && k < RACE_SPARES; k++) {
        struct race_spare *s = &vm->races->spares[k];
        if (s->bytes)
            munmap(s->p, s->bytes);
        vm->races->shadow_bytes -= s->bytes;
        *s = (struct race_spare){0};
    }
}

static bool reads_strongly(const struct vm_code *code)
{
    for (uint32_t k = 0; k < code->insn_count; k++) {
        const struct ptx_instr *in = code->origins[k];
        if (in && ((in->op == PTX_OP_ld && in->sem != PTX_WEAK) || in->op == PTX_OP_atom))
            return true;
    }
    return false;
}

struct race_global *vm_race_of(struct vm *vm)
{
    if (!vm->races) {
        vm->races = must(calloc(1, sizeof *vm->races));
        vm->races->next = vm->races->rows_from = 1;
    }
    return vm->races;
}

void vm_race_launch_start(struct vm_engine *e)
{
    struct vm *vm = e->vm;
    const uint32_t both = WIRE_CHECK_GLOBAL_RACES | WIRE_CHECK_RACES;
    e->global_races = NULL;
    if ((e->checks & both) != both)
        return;
    struct race_global *g = vm_race_of(vm);
    if (g->next >= SEGMENTS_MOST) {
        forget_all(vm);
        memset(g->operations, 0, sizeof g->operations);
        g->next = g->rows_from = 1;
    }
    if (g->next - g->rows_from > ROWS_KEPT)
        g->rows_from = g->next; /* what was before counts as ordered */
    g->running = true;
    g->launch_first = g->next;
    race_order_launch(vm, g);
    g->steps_left = STEPS_MOST;
    g->reads_strongly = reads_strongly(e->code);
    for (uint64_t blocks = e->block_total - 1; blocks; blocks >>= 4)
        g->space.depth++;
    e->global_races = g;
}

void vm_race_launch_end(struct vm_engine *e)
{
    struct race_global *g = e->global_races;
    if (!g)
        return;
    race_convict(e);
    arena_release(&g->space.arena);
    g->space = (struct race_space){0};
    race_words_release(&g->words);
    g->running = false;
    e->global_races = NULL;
}

void vm_race_free(struct vm *vm)
{
    forget_all(vm);
    if (vm->races)
        free(vm->races->rows);
    free(vm->races);
    vm->races = NULL;
}

uint32_t vm_race_segment(struct warp *w)
{
    struct race_global *g = w->engine->global_races;
    uint32_t row = g->next - g->rows_from;
    if (row == g->row_capacity) {
        if (row >= ROWS_MOST) { /* no more is remembered: what follows cannot be told apart */
            g->space.full = true;
            return w->clocks->segment = g->next - 1;
        }
        g->row_capacity = g->row_capacity ? 2 * g->row_capacity : 4096;
        g->rows = must(realloc(g->rows, g->row_capacity * sizeof *g->rows));
    }
    g->rows[row] = (struct race_segment){.block = w->block->index,
                                         .warp = w->index,
                                         .time = w->sync_events,
                                         .base = w->block->races->base};
    w->clocks->segment = g->next++;
    w->clocks->segment_time = w->sync_events;
    return w->clocks->segment;
}

/* ---- shadows ---- */

/* A mapping of at least `bytes`: a spare one that is not far too large, or zero pages. */
static void *map_bytes(struct race_global *g, uint64_t bytes, uint64_t *mapped)
{
    struct race_spare *best = NULL;
    for (int k = 0; k < RACE_SPARES; k++) {
        struct race_spare *s = &g->spares[k];
        if (s->bytes >= bytes && s->bytes / 32 <= bytes && (!best || s->bytes < best->bytes))
            best = s;
    }
    if (best) {
        void *p = best->p;
        *mapped = best->bytes;
        *best = (struct race_spare){0};
        return p;
    }
    /* A page fault per 2 MB instead of per 4 kB, and the same pages for larger ones later. */
    if (bytes >= HUGE_FROM_BYTES)
        bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    if (g->shadow_bytes + bytes > SHADOW_MOST)
        return NULL;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_FROM_BYTES)
        madvise(p, bytes, MADV_HUGEPAGE);
    *mapped = bytes;
    g->shadow_bytes += bytes;
    return p;
}

static bool map(struct race_global *g, struct race_shadow *s)
{
    s->write = map_bytes(g, (4 * s->units * sizeof *s->write + 4095) & ~4095ull, &s->bytes);
    if (!s->write)
        return false;
    s->first_read = s->write + s->units;
    s->last_read = s->write + 2 * s->units;
    s->strong = s->write + 3 * s->units;
    s->born = g->next;
    return true;
}

struct race_shadow *vm_race_shadow(struct vm_engine *e, struct vm_allocation *a)
{
    struct race_global *g = e->global_races;
    if (!g || a->read_only || a->freed)
        return NULL;
    if (a->shadow)
        return a->shadow->write ? a->shadow : NULL;
    struct race_shadow *s = a->shadow = must(calloc(1, sizeof *s));
    s->base = a->base;
    s->shift = 2;
    s->units = (a->bytes + 3) / 4 + VM_VECTOR_MOST;
    return map(g, s) ? s : NULL;
}

/* From words to bytes. */
static void narrow(struct race_global *g, struct race_shadow *s)
{
    struct race_shadow wide = *s;
    s->shift = 0;
    s->units = 4 * wide.units;
    if (map(g, s))
        for (uint64_t k = 0; k < wide.units; k++)
            for (uint64_t j = 4 * k; j < 4 * k + 4; j++) {
                s->write[j] = wide.write[k];
                s->first_read[j] = wide.first_read[k];
                s->last_read[j] = wide.last_read[k];
                s->strong[j] = wide.strong[k];
            }
    s->born = wide.born;
    /* Another allocation may get these pages within this launch, whose segments they hold. */
    memset(wide.write, 0, wide.bytes);
    unmap(g, wide.write, wide.bytes);
}

/* ---- accesses ---- */

static struct race_past past_of(const struct race_global *g, uint64_t entry, bool writes)
{
    const struct race_segment *row = &g->rows[race_time_of(entry) - g->rows_from];
    return (struct race_past){.block = row->block,
                              .entry = entry,
                              .warp = row->warp,
                              .lane = (uint32_t)(entry >> RACE_LANE_SHIFT) & 31,
                              .time = row->time,
                              .base = row->base,
                              .writes = writes};
}

static bool same_thread(const struct warp *w, unsigned lane, const struct race_past *past)
{
    return past->lane == lane && past->warp == w->index && past->block == w->block->index;
}

static bool tolerated(const struct warp *w, const struct race_past *past, uint32_t mine)
{
    uint32_t theirs = race_strength_of(past->entry);
    bool same_block = past->block == w->block->index;
    if (!same_block && (theirs == VM_STRONG_CTA || mine == VM_STRONG_CTA))
        return false;
    return race_tolerated(theirs, mine, same_block && past->warp == w->index);
}

static void look(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t mine,
                 const struct race_shadow *s, uint64_t entry, bool writes)
{
    const struct race_global *g = w->engine->global_races;
    uint32_t segment = race_time_of(entry);
    if (segment < g->launch_first) {
        if (segment >= g->first && segment >= s->born)
            race_order_entry(w, op, lane, entry, writes);
        return;
    }
    struct race_past past = past_of(g, entry, writes);
    if ((entry | mine) & RACE_READ_ONLY)
        race_read_only_written(w, op, lane, &past);
    if (same_thread(w, lane, &past))
        return;
    bool fine = tolerated(w, &past, race_strength_of(mine)) && !race_torn(w, op, entry);
    if (fine && (!writes || (op->write && !race_replaces(op))))
        return;
    if (race_ordered(w, lane, &past))
        return;
    if (fine)
        race_judge_strong(w, op, lane, &past);
    else
        race_judge(w, op, lane, &past);
}

/* Is the entry old, or of the same thread? */
static bool replaceable(const struct race_global *g, uint64_t entry, uint64_t mine)
{
    return race_time_of(entry) < g->launch_first || (entry ^ mine) >> RACE_LANE_SHIFT == 0;
}

static uint64_t succeed(uint64_t old, uint64_t mine)
{
    return race_succeed(old, mine, (old ^ mine) >> RACE_LANE_SHIFT == 0);
}

static void note_read(const struct race_global *g, struct race_shadow *s, uint64_t unit,
                      uint64_t mine)
{
    uint64_t *one = &s->first_read[unit], *other = &s->last_read[unit];
    bool recent = race_time_of(*other) >= g->launch_first;
    /* What is rather forgotten than reads that can go wrong in more ways. */
    bool weaker = (mine & RACE_READ_ONLY) < (*other & RACE_READ_ONLY) ||
                  race_strength_of(mine) > race_strength_of(*other);
    if (replaceable(g, *one, mine)) {
        uint64_t kept = race_time_of(*one) >= g->launch_first ? *one & RACE_READ_ONLY : 0;
        *one = succeed(*one, mine) | kept;
    } else if (!recent || !weaker) {
        *other = succeed(*other, mine);
    }
}

static void shadow_access(struct warp *w, const struct mem_op *op, uint32_t m)
{
    struct race_global *g = w->engine->global_races;
    uint64_t mine = race_mine(w, op);
    struct vm_allocation *a = NULL;
    struct race_shadow *s = NULL;
    for (int writing = 0; writing <= op->write; writing++) {
        for (uint32_t rest = m; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            uint64_t address = w->lane_address[lane];
            if (!a || address - a->base >= a->bytes) {
                a = vm_find_allocation(w->engine->vm, address);
                s = a ? vm_race_shadow(w->engine, a) : NULL;
                if (s && s->shift && op->total < 4)
                    narrow(g, s);
                if (s && !s->write)
                    s = NULL;
            }
            if (!s)
                continue;
            if (writing && op->strength != VM_PLAIN)
                s->strong_last = race_time_of(mine);
            uint64_t entry = mine | (uint64_t)lane << RACE_LANE_SHIFT;
            uint64_t unit = (address - s->base) >> s->shift;
            uint64_t end = (address - s->base + op->total - 1) >> s->shift;
            if (g->foreign_count && !writing)
                race_order_ranges(w, op, lane);
            for (; unit <= end; unit++) {
                /* All lanes look before the first writes: those of one store do not race here. */
                if (writing) {
                    uint64_t *to = op->strength == VM_PLAIN ? &s->write[unit] : &s->strong[unit];
                    *to = succeed(*to, entry);
                    continue;
                }
                look(w, op, lane, entry, s, s->write[unit], true);
                if (s->strong_last >= g->first)
                    look(w, op, lane, entry, s, s->strong[unit], true);
                if (op->write) {
                    look(w, op, lane, entry, s, s->first_read[unit], false);
                    look(w, op, lane, entry, s, s->last_read[unit], false);
                } else {
                    note_read(g, s, unit, entry);
                }
            }
        }
    }
}

void vm_race_global(struct warp *w, const struct mem_op *op, uint32_t m)
{
    const struct race_global *g = w->engine->global_races;
    if (race_enough(w))
        return;
    if (op->strength != VM_PLAIN)
        race_strong_begin(w, op, m);
    if (g && !g->space.full)
        shadow_access(w, op, m);
    if (op->strength != VM_PLAIN)
        race_strong_end(w, op, m);
}
