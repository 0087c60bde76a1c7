/* Which warp of which block runs next.
 *
 * Blocks that have started and not ended are active. In a round every active block gets a turn, in
 * which each of its warps that can runs until it waits, polls, ends or has used up its budget.
 * Blocks are started as they are needed: a few at first, which keeps their registers in the cache,
 * and more whenever a round moves nothing, up to what would be resident on the device. So blocks
 * that wait for each other always meet, and blocks whose predecessors must have come further really
 * wait. */
#include "cpu/vm/sched.h"
#include "cpu/vm/watch.h"

#include "cpu/vm/delay.h"

#include <stdlib.h>
#include <string.h>

enum {
    TURN = 20000,        /* warp instructions */
    ACTIVE_FIRST = 4,    /* blocks that are started at once */
    ACTIVE_SHUFFLED = 8, /* the same for schedules other than in order */
    LAST_FIRST_RESIDENT = 2,
    RANDOM_TURN = 96, /* instructions at most, most of the time */
};

struct sched {
    struct vm_engine *e;
    enum wire_schedule schedule;
    struct shake shake; /* for WIRE_INTERLEAVED */
    struct block **active;
    uint32_t count, target, most;
    uint32_t *free_slots, free_count;
};

/* ---- barriers ---- */

uint32_t vm_slot_or_row(const struct warp *w, bool slot, uint32_t at, unsigned lane)
{
    uint32_t v;
    memcpy(&v, slot ? w->bank + at : vm_lane(w->frame, at, lane, false), sizeof v);
    return v;
}

/* Gives the lanes of one group that waited at bar.red its result. */
static void give_reduced(struct warp *w, const struct group *g, const struct barrier *bar)
{
    const struct insn *i = &w->engine->code->insns[g->pc - 1];
    const struct barrier_op *op = (const struct barrier_op *)(uintptr_t)i->imm;
    if (op->sub == PTX_BAR_SYNC)
        return;
    uint8_t *frame = w->stack + g->frame;
    if (op->sub == PTX_POPC) {
        for (uint32_t rest = g->mask; rest; rest &= rest - 1)
            memcpy(vm_lane(frame, op->d, (unsigned)__builtin_ctz(rest), false), &bar->votes, 4);
        return;
    }
    uint32_t p;
    bool truth = op->sub == PTX_AND ? bar->votes == bar->voters : bar->votes > 0;
    memcpy(&p, frame + op->d, 4);
    p = truth ? p | g->mask : p & ~g->mask;
    memcpy(frame + op->d, &p, 4);
}

void vm_barrier_check(struct block *b, unsigned id)
{
    struct barrier *bar = &b->barriers[id];
    uint32_t threads = b->engine->block_threads;
    bool everybody = bar->arrived + (bar->expected ? 0 : b->exited) >= threads;
    if (!bar->in_use || (bar->expected ? bar->arrived < bar->expected : !everybody))
        return;
    uint32_t warps = 0;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        if (w->whole_waits && w->whole_barrier == id) {
            w->whole_waits = false;
            w->runnable = true;
        }
        for (uint32_t g = 0; g < w->group_count; g++) {
            if (w->groups[g].state != VM_AT_BARRIER || w->groups[g].barrier != id)
                continue;
            give_reduced(w, &w->groups[g], bar);
            w->groups[g].state = VM_RUNNABLE;
            w->runnable = true;
            w->cycling = false; /* these lanes go on, whatever the others of the warp do */
            w->quiet_turns = 0;
            warps |= 1u << k;
        }
    }
    vm_watch_event(b->engine, bar->first_pc, COUNTER_block_barriers);
    if (b->engine->trace && everybody)
        watch_trace_barrier(b);
    vm_race_barrier(b, warps | bar->warps, everybody);
    memset(bar, 0, sizeof *bar);
    b->open_barriers &= ~(1u << id);
}

void vm_barrier_arrive(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct barrier_op *op = (const struct barrier_op *)(uintptr_t)i->imm;
    struct block *b = w->block;
    unsigned first = (unsigned)__builtin_ctz(m);
    uint32_t id = vm_slot_or_row(w, op->id_slot, op->id, first) % VM_BARRIERS, pc = vm_pc(w, i);
    struct barrier *bar = &b->barriers[id];
    uint32_t count = op->has_count ? vm_slot_or_row(w, op->count_slot, op->count, first) : 0;
    vm_watch_event(w->engine, pc, COUNTER_barriers);
    bool differs = bar->in_use && count && bar->expected && count != bar->expected;
    if (count % VM_LANES || differs)
        vm_report_count(w, pc, m, id, count, bar->expected);
    if (!bar->in_use) {
        *bar = (struct barrier){.in_use = true,
                                .expected = count,
                                .first_pc = pc,
                                .first_thread = w->index * VM_LANES + first};
        b->open_barriers |= 1u << id;
        if (count)
            memset(b->counted[id], 0, sizeof b->counted[id]);
    } else if (bar->first_pc != pc && !count && op->aligned) {
        vm_report_mixed_barrier(w, pc, m, bar->first_pc, bar->first_thread);
    }
    bar->arrived += vm_count_lanes(m);
    if (count) {
        /* A counted barrier counts whole warps: lanes that are gone or never were count with the
         * last of the others. */
        uint32_t *lanes = &b->counted[id][w->index];
        *lanes |= m;
        if (*lanes == w->live) {
            bar->arrived += VM_LANES - vm_count_lanes(w->live);
            *lanes = 0;
        }
    }
    bar->warps |= 1u << w->index;
    if (op->sub != PTX_BAR_SYNC && op->sub != PTX_BAR_ARRIVE) {
        uint32_t p;
        memcpy(&p, w->frame + op->pred, 4);
        bar->votes += vm_count_lanes((p ^ op->flip) & m);
        bar->voters += vm_count_lanes(m);
    }
    if (op->sub == PTX_BAR_ARRIVE) {
        w->mask = m;
        w->resume = i + 1;
        vm_barrier_check(b, id);
        vm_watch_groups(w);
        return;
    }
    if (m == w->live && op->sub == PTX_BAR_SYNC) { /* the usual case */
        w->mask = m;
        w->resume = i + 1;
        w->passed_by = false;
        w->runnable = false;
        w->whole_waits = true;
        w->whole_barrier = (uint8_t)id;
        vm_barrier_check(b, id);
        if (w->whole_waits)
            vm_halt(w, VM_STOP_PARKED);
        return;
    }
    vm_park_at_barrier(w, m, pc + 1, (uint8_t)id);
    vm_barrier_check(b, id);
    vm_pick(w);
}

/* ---- turns ---- */

/* One turn of a warp. Did anything come of it that others could wait for? */
static bool run_warp(struct sched *s, struct warp *w)
{
    struct vm_engine *e = s->e;
    w->halt = false;
    if (!w->mask) {
        vm_pick(w);
        if (w->halt)
            return false;
    }
    int32_t turn = TURN;
    if (s->schedule == WIRE_RANDOM && sched_draw(e, 16))
        turn = 1 + (int32_t)sched_draw(e, RANDOM_TURN);
    if (e->interleaved)
        turn = shake_warp(&s->shake, w);
    uint64_t version = e->version;
    w->budget = w->turn = turn;
    e->exec->run(w);
    delay_tick(e);
    uint64_t steps = (uint64_t)((int64_t)w->turn - w->budget);
    w->warp_count += steps;
    e->steps += steps;
    e->counters->value[COUNTER_warp_instructions] += steps;
    e->counters->value[COUNTER_instructions] += (uint32_t)w->lane_count;
    e->counters->value[COUNTER_additions] += w->lane_count >> 32;
    w->lane_count = 0;
    switch ((enum vm_stop)w->stop) {
    case VM_STOP_DONE:
        w->done = true;
        w->runnable = false;
        w->block->done_warps++;
        return true;
    case VM_STOP_FAULT:
        return true;
    case VM_STOP_PARKED:
        w->cycling = false;
        w->quiet_turns = 0;
        return true;
    case VM_STOP_YIELD:
    case VM_STOP_BUDGET:
        break;
    }
    if (e->version != version) {
        w->cycling = false;
        w->quiet_turns = 0;
        return true;
    }
    if (w->loose)
        return true;
    stuck_watch(w);
    return w->stop == VM_STOP_BUDGET && !w->cycling;
}

static bool is_random(const struct sched *s)
{
    return s->schedule == WIRE_RANDOM || s->schedule == WIRE_INTERLEAVED;
}

static bool run_block(struct sched *s, struct block *b)
{
    bool moved = false;
    uint32_t n = b->warp_count;
    if (is_random(s)) {
        struct warp *w = &b->warps[sched_draw(s->e, n)];
        if (w->runnable && shake_waits(&s->shake, w))
            return true;
        for (uint32_t k = 0; k < n && !w->runnable; k++)
            w = &b->warps[(w->index + 1u) % n];
        return w->runnable && run_warp(s, w);
    }
    for (uint32_t k = 0; k < n && !s->e->stopped; k++) {
        struct warp *w = &b->warps[s->schedule == WIRE_REVERSED ? n - 1 - k : k];
        if (w->runnable)
            moved |= run_warp(s, w);
    }
    return moved;
}

/* ---- rounds ---- */

static void start_blocks(struct sched *s)
{
    struct vm_engine *e = s->e;
    uint64_t k;
    while (s->count < s->target && crew_claim(e, &k)) {
        uint32_t slot = s->free_count ? s->free_slots[--s->free_count] : e->slots_used++;
        struct block *b = launch_slot(e, slot);
        launch_start_block(b, s->schedule == WIRE_LAST_FIRST ? e->block_total - 1 - k : k);
        s->active[s->count++] = b;
    }
}

static void retire(struct sched *s, uint32_t at)
{
    struct block *b = s->active[at];
    b->active = false;
    delay_retire(b);
    s->free_slots[s->free_count++] = b->slot;
    memmove(s->active + at, s->active + at + 1, (s->count - at - 1) * sizeof(void *));
    s->count--;
    s->e->blocks_done++;
}

/* A turn for every active block. */
static bool round_of_turns(struct sched *s)
{
    bool moved = false;
    for (uint32_t k = 0; k < s->count && !s->e->stopped; k++) {
        uint32_t at = s->schedule == WIRE_REVERSED ? s->count - 1 - k : k;
        if (is_random(s))
            at = (uint32_t)sched_draw(s->e, s->count);
        moved |= run_block(s, s->active[at]);
        if (s->e->crew)
            crew_publish(s->e);
    }
    for (uint32_t k = s->count; k-- > 0;)
        if (s->active[k]->done_warps == s->active[k]->warp_count) {
            retire(s, k);
            moved = true;
        }
    return moved;
}

static bool over_limit(struct vm_engine *e)
{
    uint64_t limit = e->vm->config.step_limit;
    uint64_t steps = crew_steps(e);
    if (!limit || steps <= limit)
        return false;
    if (!crew_end(e, VM_STEP_LIMIT))
        return true;
    struct vm_site site = {.kernel = e->kernel,
                           .module = e->code->module,
                           .block = {-1, -1, -1},
                           .thread = {-1, -1, -1}};
    for (uint32_t k = 0; k < e->slots_used; k++) {
        struct block *b = e->slots[k];
        for (uint32_t j = 0; b->active && j < b->warp_count; j++)
            if (b->warps[j].runnable && b->warps[j].mask)
                vm_site_of(&b->warps[j], (uint32_t)(b->warps[j].resume - e->code->insns),
                           __builtin_ctz(b->warps[j].mask), &site);
    }
    vm_report(e->vm, FINDING_step_limit, WIRE_ERROR, &site,
              "stopped after %llu warp instructions, far more than a right solution needs",
              (unsigned long long)steps);
    return true;
}

/* Lets warps go on that wait for lanes of a mask that cannot arrive. */
static bool force_syncs(struct sched *s)
{
    bool forced = false;
    for (uint32_t k = 0; k < s->count; k++)
        for (uint32_t j = 0; j < s->active[k]->warp_count; j++) {
            struct warp *w = &s->active[k]->warps[j];
            if (!w->done && !w->runnable)
                forced |= vm_force_sync(w);
        }
    return forced;
}

/* Nothing moved: more blocks, late stores become visible, or lanes that wait for a mask that cannot
 * arrive, or more blocks than were asked for but not more than the device holds, or the end. */
static bool unblock(struct sched *s)
{
    struct vm_engine *e = s->e;
    if (s->target < s->most && e->next_block < e->block_total) {
        s->target = s->target * 2 < s->most ? s->target * 2 : s->most;
        return true;
    }
    if (!stuck_judge(e, s->active, s->count)) {
        delay_drain_one(e);
        return true;
    }
    if (delay_drain_all(e))
        return true;
    if (force_syncs(s))
        return true;
    if (s->most < e->resident_most && e->next_block < e->block_total &&
        s->schedule != WIRE_LAST_FIRST) {
        stuck_warn_resident(e, s->active, s->count);
        s->most = 2 * s->most < e->resident_most ? 2 * s->most : e->resident_most;
        s->target = s->most;
        return true;
    }
    stuck_report(e, s->active, s->count);
    return false;
}

/* The same with others at work on other host threads, who may move something yet. */
static bool unblock_in_crew(struct sched *s)
{
    struct vm_engine *e = s->e;
    if (!stuck_judge(e, s->active, s->count)) {
        crew_pause();
        return true;
    }
    crew_call_up(e);
    if (s->target < s->most && crew_unclaimed(e)) {
        s->target = s->target * 2 < s->most ? s->target * 2 : s->most;
        return true;
    }
    if (!force_syncs(s))
        crew_wait(e, s->active, s->count);
    return true;
}

void sched_run(struct vm_engine *e)
{
    struct sched s = {.e = e, .schedule = (enum wire_schedule)e->vm->config.schedule};
    s.most = e->resident_wanted;
    s.target = s.schedule == WIRE_IN_ORDER ? ACTIVE_FIRST : ACTIVE_SHUFFLED;
    if (e->interleaved) {
        shake_start(&s.shake, e);
        s.target = s.shake.active;
    }
    if (s.schedule == WIRE_LAST_FIRST && !e->launch->cooperative) {
        s.target = LAST_FIRST_RESIDENT;
        if (s.most > LAST_FIRST_RESIDENT)
            s.most = LAST_FIRST_RESIDENT;
    }
    if (s.target > s.most)
        s.target = s.most;
    s.active = calloc(e->resident_most, sizeof(void *));
    s.free_slots = calloc(e->resident_most, sizeof *s.free_slots);
    if (!s.active || !s.free_slots)
        BUG("out of memory for %u resident blocks", e->resident_most);
    for (;;) {
        start_blocks(&s);
        if (e->stopped || !s.count)
            break;
        uint32_t rounds = is_random(&s) ? e->warps_per_block : 1;
        bool moved = false;
        while (rounds-- && !moved && !e->stopped)
            moved = round_of_turns(&s);
        if (e->crew && crew_is_worth_it(e))
            crew_call_up(e);
        if (!moved && !e->stopped && !(e->crew ? unblock_in_crew(&s) : unblock(&s)))
            break;
        if (over_limit(e))
            break;
    }
    free(s.active);
    free(s.free_slots);
}
