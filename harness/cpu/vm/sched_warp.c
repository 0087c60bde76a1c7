/* The groups of one warp: parting, meeting, waiting, calls.
 *
 * Lowest pc first, deeper calls before shallower ones: lanes that part at a branch meet again where
 * the paths join, because code is laid out forwards. That order alone starves lanes: a spin at a
 * low pc would run for ever while the lane that could end it waits at a higher one. So a backward
 * branch that is taken often while others could run rotates: the group that has waited longest runs
 * for a while whatever its pc, then the order holds again. A loose warp (sched_shake.c) has no
 * order: whoever runs goes on until its turn ends, and takes along those that it comes past. */
#include "cpu/vm/delay.h"
#include "cpu/vm/engine.h"
#include "cpu/vm/lower.h"
#include "cpu/vm/sched.h"
#include "cpu/vm/watch.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPINS_POLLING = 2,   /* backward branches before others get their turn */
    SPINS_PLAIN = 4096,  /* lanes wait where paths join, for long loops of the others too */
    ROTATION_HEADS = 48, /* block heads that a rotated group may pass */
};

void vm_halt(struct warp *w, enum vm_stop why)
{
    w->halt = true;
    w->stop = (uint8_t)why;
}

/* ---- the list ---- */

static void push(struct warp *w, uint32_t mask, uint32_t pc, enum vm_group_state state)
{
    struct group *g = &w->groups[w->group_count++];
    *g = (struct group){.mask = mask,
                        .pc = pc,
                        .frame = w->frame_offset,
                        .depth = w->depth,
                        .age = ++w->clock,
                        .state = (uint8_t)state,
                        .passed_by = w->passed_by};
}

static void drop(struct warp *w, uint32_t k)
{
    w->groups[k] = w->groups[--w->group_count];
}

static void set_frame(struct warp *w, uint32_t offset, uint32_t depth)
{
    w->frame_offset = offset;
    w->frame = w->stack + offset;
    w->depth = depth;
}

/* Group k becomes the running one. */
static void take(struct warp *w, uint32_t k)
{
    struct group g = w->groups[k];
    drop(w, k);
    w->mask = g.mask;
    w->passed_by = g.passed_by;
    w->resume = w->engine->code->insns + g.pc;
    set_frame(w, g.frame, g.depth);
}

/* Everybody who could run at the same place joins the running group. */
static void merge(struct warp *w)
{
    uint32_t pc = (uint32_t)(w->resume - w->engine->code->insns);
    for (uint32_t k = 0; k < w->group_count;) {
        const struct group *g = &w->groups[k];
        if (g->state == VM_RUNNABLE && g->pc == pc && g->frame == w->frame_offset &&
            g->depth == w->depth) {
            w->mask |= g->mask;
            w->passed_by |= g->passed_by;
            drop(w, k);
        } else {
            k++;
        }
    }
}

static bool before(const struct group *a, uint32_t depth, uint32_t pc)
{
    return a->depth != depth ? a->depth > depth : a->pc < pc;
}

/* The runnable group that goes first by the order, or group_count. */
static uint32_t first_runnable(const struct warp *w)
{
    uint32_t best = w->group_count;
    for (uint32_t k = 0; k < w->group_count; k++) {
        const struct group *g = &w->groups[k];
        if (g->state == VM_RUNNABLE &&
            (best == w->group_count || before(g, w->groups[best].depth, w->groups[best].pc)))
            best = k;
    }
    return best;
}

/* One of them, or group_count. */
static uint32_t any_runnable(const struct warp *w)
{
    uint32_t chosen = w->group_count, seen = 0;
    for (uint32_t k = 0; k < w->group_count; k++)
        if (w->groups[k].state == VM_RUNNABLE && sched_draw(w->engine, ++seen) == 0)
            chosen = k;
    return chosen;
}

void vm_part_lanes(struct warp *w, uint32_t m)
{
    push(w, w->mask & ~m, (uint32_t)(w->resume - w->engine->code->insns), VM_RUNNABLE);
    w->mask &= m;
}

void vm_change_group(struct warp *w)
{
    uint32_t other = any_runnable(w);
    if (other == w->group_count)
        return;
    struct group next = w->groups[other];
    drop(w, other);
    push(w, w->mask, (uint32_t)(w->resume - w->engine->code->insns), VM_RUNNABLE);
    w->groups[w->group_count++] = next;
    take(w, w->group_count - 1);
}

bool vm_has_runnable(const struct warp *w)
{
    return first_runnable(w) < w->group_count;
}

void vm_watch_groups(struct warp *w)
{
    w->join_pc = UINT32_MAX;
    for (uint32_t k = 0; k < w->group_count; k++) {
        const struct group *g = &w->groups[k];
        if (g->state != VM_RUNNABLE)
            continue;
        if (w->rotation || w->loose || g->depth > w->depth)
            w->join_pc = 0;
        else if (g->depth == w->depth && g->pc < w->join_pc)
            w->join_pc = g->pc;
    }
}

/* ---- meeting and parting ---- */

void vm_diverge(struct warp *w, uint32_t taken, uint32_t taken_pc, uint32_t fallen,
                uint32_t fallen_pc)
{
    vm_watch_event(w->engine, fallen_pc - 1, COUNTER_divergent_branches);
    bool taken_first = taken_pc < fallen_pc;
    if (w->loose)
        taken_first = sched_draw(w->engine, 2);
    push(w, taken_first ? fallen : taken, taken_first ? fallen_pc : taken_pc, VM_RUNNABLE);
    w->mask = taken_first ? taken : fallen;
    w->resume = w->engine->code->insns + (taken_first ? taken_pc : fallen_pc);
    merge(w);
    vm_watch_groups(w);
}

void vm_join(struct warp *w, uint32_t pc)
{
    merge(w);
    if (w->loose || (w->rotation && --w->rotation)) {
        vm_watch_groups(w);
        return;
    }
    uint32_t best = first_runnable(w);
    if (best < w->group_count && before(&w->groups[best], w->depth, pc)) {
        uint32_t mask = w->mask;
        struct group swap = w->groups[best];
        drop(w, best);
        push(w, mask, pc, VM_RUNNABLE);
        w->groups[w->group_count] = swap; /* there is room: a group less ran than there are lanes */
        w->group_count++;
        take(w, w->group_count - 1);
        merge(w);
    }
    vm_watch_groups(w);
}

/* Runs past a barrier that lanes of its own warp wait at? Remembered until it arrives at one. */
static void note_passing(struct warp *w)
{
    uint32_t pc = (uint32_t)(w->resume - w->engine->code->insns);
    for (uint32_t k = 0; k < w->group_count && !w->passed_by; k++)
        if (w->groups[k].state == VM_AT_BARRIER)
            w->passed_by = vm_skips_barrier(w, pc, w->groups[k].pc - 1);
}

void vm_pick(struct warp *w)
{
    w->rotation = 0;
    w->spin = 0;
    uint32_t best = w->loose ? any_runnable(w) : first_runnable(w);
    if (best == w->group_count) {
        w->mask = 0;
        w->runnable = false;
        vm_halt(w, w->live ? VM_STOP_PARKED : VM_STOP_DONE);
        return;
    }
    take(w, best);
    merge(w);
    if (w->group_count && !w->engine->interleaved)
        note_passing(w);
    vm_watch_groups(w);
}

void vm_backward(struct warp *w, uint32_t pc, bool polling)
{
    w->resume = w->engine->code->insns + pc;
    uint32_t oldest = w->group_count;
    for (uint32_t k = 0; k < w->group_count; k++)
        if (w->groups[k].state == VM_RUNNABLE &&
            (oldest == w->group_count || w->groups[k].age < w->groups[oldest].age))
            oldest = k;
    if (oldest == w->group_count) {
        /* As long as something comes of it (lanes that compete by compare-and-swap), go on. */
        if (polling && w->polled_version == w->engine->version)
            vm_halt(w, VM_STOP_YIELD);
        w->polled_version = w->engine->version;
        return;
    }
    if (++w->spin < (polling ? SPINS_POLLING : SPINS_PLAIN))
        return;
    struct group next = w->groups[oldest];
    drop(w, oldest);
    push(w, w->mask, pc, VM_RUNNABLE);
    w->groups[w->group_count++] = next;
    take(w, w->group_count - 1);
    w->spin = 0;
    w->rotation = ROTATION_HEADS;
    merge(w);
    vm_watch_groups(w);
    /* Between polls of one warp others must run too. */
    if (polling)
        vm_halt(w, VM_STOP_YIELD);
}

void vm_exit_lanes(struct warp *w, uint32_t m)
{
    struct block *b = w->block;
    if (!vm_async_exit(w, m))
        return;
    delay_publish(w, m, DELAY_BLOCK);
    if (w->passed_by)
        vm_report_passed_barrier(w, m);
    w->live &= ~m;
    w->mask = 0;
    b->exited += vm_count_lanes(m);
    /* Exited lanes count as arrived: whoever waits for them looks again. */
    for (uint32_t k = 0; k < w->group_count; k++)
        if (w->groups[k].state == VM_AT_SYNC)
            w->groups[k].state = VM_RUNNABLE;
    for (uint32_t open = b->open_barriers; open; open &= open - 1)
        vm_barrier_check(b, (unsigned)__builtin_ctz(open));
    vm_pick(w);
}

/* ---- operations over a mask ---- */

static uint32_t lane_mask(const struct warp *w, const struct warp_op *op, unsigned lane)
{
    return vm_slot_or_row(w, op->mask_slot, op->mask, lane);
}

/* Runs the operation for every set of lanes that name the same mask and are all here; with `force`,
 * for every set. Returns the lanes that are through. */
static uint32_t run_complete(struct warp *w, const struct warp_op *op, uint32_t m, bool force)
{
    uint32_t through = 0;
    for (uint32_t rest = m; rest;) {
        unsigned first = (unsigned)__builtin_ctz(rest);
        uint32_t named = lane_mask(w, op, first), same = 0;
        for (uint32_t k = rest; k; k &= k - 1)
            if (lane_mask(w, op, (unsigned)__builtin_ctz(k)) == named)
                same |= 1u << __builtin_ctz(k);
        rest &= ~same;
        uint32_t needed = named & w->live;
        if ((needed & ~same) && !force)
            continue;
        w->engine->exec->warp_op(w, op, w->frame, w->bank, same);
        through |= same;
    }
    return through;
}

void vm_sync_slow(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct warp_op *op = (const struct warp_op *)(uintptr_t)i->imm;
    uint32_t pc = vm_pc(w, i);
    for (uint32_t k = 0; k < w->group_count;) { /* others who wait right here */
        const struct group *g = &w->groups[k];
        bool same = g->state != VM_AT_BARRIER && g->pc == pc && g->frame == w->frame_offset &&
                    g->depth == w->depth;
        if (same) {
            m |= g->mask;
            drop(w, k);
        } else {
            k++;
        }
    }
    vm_check_own_mask(w, op, m);
    uint32_t through = run_complete(w, op, m, false);
    if (!through && w->force_sync) {
        vm_report_stuck_sync(w, op, m);
        through = run_complete(w, op, m, true);
    }
    w->force_sync = false;
    w->mask = 0;
    if (m & ~through)
        push(w, m & ~through, pc, VM_AT_SYNC);
    if (through) {
        w->mask = through;
        w->resume = i + 1;
        merge(w);
        vm_watch_groups(w);
        return;
    }
    vm_pick(w);
}

bool vm_force_sync(struct warp *w)
{
    uint32_t best = w->group_count;
    for (uint32_t k = 0; k < w->group_count; k++)
        if (w->groups[k].state == VM_AT_SYNC &&
            (best == w->group_count ||
             before(&w->groups[k], w->groups[best].depth, w->groups[best].pc)))
            best = k;
    if (best == w->group_count)
        return false;
    w->groups[best].state = VM_RUNNABLE;
    w->force_sync = true;
    w->runnable = true;
    vm_pick(w);
    w->halt = false;
    return true;
}

/* ---- block barriers ---- */

void vm_park_at_barrier(struct warp *w, uint32_t m, uint32_t next_pc, uint8_t id)
{
    w->passed_by = false;
    push(w, m, next_pc, VM_AT_BARRIER);
    w->groups[w->group_count - 1].barrier = id;
    w->mask = 0;
}

/* ---- calls ---- */

/* Grows `*memory` to `bytes`, aligned to a cache line. */
static void grow(uint8_t **memory, size_t *bytes, size_t wanted)
{
    if (wanted <= *bytes)
        return;
    size_t size = (wanted * 3 / 2 + 4095) & ~(size_t)4095;
    uint8_t *p = aligned_alloc(64, size);
    if (!p)
        BUG("out of memory for %zu bytes of registers", size);
    memset(p, 0, size);
    if (*bytes)
        memcpy(p, *memory, *bytes);
    free(*memory);
    *memory = p;
    *bytes = size;
}

void vm_stack_reserve(struct warp *w, size_t bytes)
{
    grow(&w->stack, &w->stack_bytes, bytes + 2ull * VM_ROW64);
    w->frame = w->stack + w->frame_offset;
}

bool vm_reserve(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct vm_code *code = w->engine->code;
    uint32_t most = 0;
    for (uint32_t f = 0; i->b == ~0u && f < code->module->ptx.function_count; f++)
        if (code->functions[f].frame_bytes > most)
            most = code->functions[f].frame_bytes;
    if (i->b != ~0u)
        most = code->functions[i->b].frame_bytes;
    if (w->depth + 1 >= VM_CALL_DEPTH) {
        vm_report_stack_overflow(w, vm_pc(w, i), m);
        return false;
    }
    vm_stack_reserve(w, (size_t)w->frame_offset + i->a + most);
    return true;
}

static uint32_t *header_row(const struct warp *w, uint32_t frame, uint32_t at)
{
    return (uint32_t *)(void *)(w->stack + frame + at);
}

static void enter(struct warp *w, const struct insn *i, uint32_t m, uint32_t function)
{
    const struct code_function *callee = &w->engine->code->functions[function];
    uint32_t frame = w->frame_offset + i->x;
    const uint64_t *base = (const uint64_t *)(const void *)(w->frame + FRAME_LOCAL_BASE);
    uint64_t *new_base = (uint64_t *)(void *)(w->stack + frame + FRAME_LOCAL_BASE);
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        header_row(w, frame, FRAME_RETURN_PC)[l] = vm_pc(w, i) + 1;
        header_row(w, frame, FRAME_PREVIOUS)[l] = w->frame_offset;
        uint64_t used = i->y; /* c: the row that says so, of a function with an alloca */
        if (i->c)
            memcpy(&used, vm_lane(w->frame, i->c, l, true), 8);
        new_base[l] = (w->depth ? base[l] : VM_LOCAL_START) + ((used + 15) & ~15ull);
        uint64_t end = new_base[l] + callee->local_bytes;
        if (end > w->local_bytes)
            vm_local_reserve(w, end);
    }
    w->mask = m;
    w->resume = w->engine->code->insns + callee->entry;
    set_frame(w, frame, w->depth + 1);
    vm_watch_groups(w);
}

void vm_call(struct warp *w, const struct insn *i, uint32_t m)
{
    enter(w, i, m, i->a);
}

void vm_call_row(struct warp *w, const struct insn *i, uint32_t m)
{
    const uint64_t *row = (const uint64_t *)(const void *)(w->frame + i->a);
    const struct vm_code *code = w->engine->code;
    uint64_t target = row[__builtin_ctz(m)];
    uint32_t same = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1)
        if (row[__builtin_ctz(rest)] == target)
            same |= 1u << __builtin_ctz(rest);
    uint64_t at = target - (w->engine->vm->window + VM_CODE_OFFSET);
    if (at % 16 || at / 16 >= code->module->ptx.function_count ||
        code->functions[at / 16].entry == VM_NO_PC) {
        vm_report_bad_call(w, vm_pc(w, i), same);
        return;
    }
    if (m & ~same)
        push(w, m & ~same, vm_pc(w, i), VM_RUNNABLE);
    enter(w, i, same, (uint32_t)(at / 16));
}

void vm_return(struct warp *w, uint32_t m)
{
    const uint32_t *pc = header_row(w, w->frame_offset, FRAME_RETURN_PC);
    const uint32_t *previous = header_row(w, w->frame_offset, FRAME_PREVIOUS);
    uint32_t frame = w->frame_offset, depth = w->depth;
    for (uint32_t rest = m; rest;) {
        unsigned first = (unsigned)__builtin_ctz(rest);
        uint32_t same = 0;
        for (uint32_t k = rest; k; k &= k - 1) {
            unsigned l = (unsigned)__builtin_ctz(k);
            if (pc[l] == pc[first] && previous[l] == previous[first])
                same |= 1u << l;
        }
        rest &= ~same;
        set_frame(w, previous[first], depth - 1);
        push(w, same, pc[first], VM_RUNNABLE);
        set_frame(w, frame, depth);
    }
    vm_pick(w);
}

void vm_branch_table(struct warp *w, const struct insn *i, uint32_t m)
{
    const uint32_t *index = (const uint32_t *)(const void *)(w->frame + i->a);
    const uint32_t *pcs = (const uint32_t *)(uintptr_t)i->imm;
    unsigned parts = 0;
    for (uint32_t rest = m; rest; parts++) {
        uint32_t at = index[__builtin_ctz(rest)], same = 0;
        if (at >= i->c) {
            vm_report_bad_call(w, vm_pc(w, i), rest);
            return;
        }
        for (uint32_t k = rest; k; k &= k - 1)
            if (index[__builtin_ctz(k)] < i->c && pcs[index[__builtin_ctz(k)]] == pcs[at])
                same |= 1u << __builtin_ctz(k);
        rest &= ~same;
        push(w, same, pcs[at], VM_RUNNABLE);
    }
    if (parts > 1)
        vm_watch_event(w->engine, vm_pc(w, i), COUNTER_divergent_branches);
    vm_pick(w);
}
