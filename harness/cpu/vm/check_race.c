/* Races on shared memory, by happens-before. race_clock.c says what comes before what; here is the
 * shadow.
 *
 * Per word of shared memory (per byte where there are accesses of 1 or 2 bytes) the shadow holds
 * the last write, the first read since, and the last read of another thread: as in FastTrack
 * (Flanagan and Freund, PLDI 2009), cut down to what names a pair of lines. Nothing here depends on
 * which of two unordered accesses came first.
 *
 * What is no race: two atomics or other strong accesses; volatile accesses of different warps
 * (flags); a loop that polls a volatile; lanes of one store that write the same value. Volatile
 * accesses of one warp without a sync in between are one: that is code that relies on lock-step. So
 * are two that add to a volatile (x = x + 1): one of them is lost. */
#include "cpu/vm/check.h"
#include "cpu/vm/race.h"

static bool is_volatile(uint32_t strength)
{
    return strength == VM_IS_VOLATILE || strength == VM_UPDATING;
}

bool race_tolerated(uint32_t a, uint32_t b, bool same_warp)
{
    if (a == VM_PLAIN || b == VM_PLAIN || (a == VM_UPDATING && b == VM_UPDATING))
        return false;
    return !(same_warp && is_volatile(a) && is_volatile(b));
}

/* An access that stands for an earlier one of the same thread, with no sync in between, must not
 * hide that the earlier one was weaker. */
uint64_t race_succeed(uint64_t old, uint64_t mine, bool same_thread)
{
    bool same = same_thread && race_time_of(old) == race_time_of(mine);
    return same && race_strength_of(old) < race_strength_of(mine) ? old : mine;
}

static uint64_t succeed(uint64_t old, uint64_t mine)
{
    return race_succeed(old, mine, race_thread_of(old) == race_thread_of(mine));
}

static void look(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t mine,
                 uint64_t entry, bool writes)
{
    const struct race_block *r = w->block->races;
    if (!race_meets(entry, mine, (uint64_t)r->base << RACE_TIME_SHIFT))
        return;
    uint32_t thread = race_thread_of(entry);
    struct race_past past = {.block = w->block->index,
                             .entry = entry,
                             .warp = thread / VM_LANES,
                             .lane = thread % VM_LANES,
                             .time = race_time_of(entry),
                             .base = r->base,
                             .writes = writes,
                             .shared = true};
    bool same_warp = past.warp == w->index;
    bool fine = race_tolerated(race_strength_of(entry), race_strength_of(mine), same_warp) &&
                !race_torn(w, op, entry);
    bool judged = writes && (!op->write || race_replaces(op)) && w->engine->global_races;
    if ((fine && !judged) || race_ordered(w, lane, &past))
        return;
    if (fine)
        race_judge_strong(w, op, lane, &past);
    else
        race_judge(w, op, lane, &past);
}

void race_split(struct race_block *r, uint32_t word)
{
    uint64_t *const parts[] = {r->write, r->first_read, r->last_read};
    for (unsigned k = 0; k < 3; k++)
        for (uint32_t byte = 4 * word; byte < 4 * word + 4; byte++)
            parts[k][r->word_count + byte] = parts[k][word];
    r->split[word] = r->base;
}

/* One unit of an access that has the entry `mine`. */
static void look_at_unit(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t mine,
                         uint32_t unit)
{
    struct race_block *r = w->block->races;
    look(w, op, lane, mine, r->write[unit], true);
    if (op->write) {
        look(w, op, lane, mine, r->first_read[unit], false);
        look(w, op, lane, mine, r->last_read[unit], false);
    } else if (!race_meets(r->first_read[unit], mine, (uint64_t)r->base << RACE_TIME_SHIFT)) {
        r->first_read[unit] = succeed(r->first_read[unit], mine);
    } else {
        r->last_read[unit] = succeed(r->last_read[unit], mine);
    }
}

void vm_race_access(struct warp *w, const struct mem_op *op, uint32_t m)
{
    struct race_block *r = w->block->races;
    if (race_enough(w))
        return;
    if (op->strength != VM_PLAIN)
        race_strong_begin(w, op, m);
    uint64_t base = race_entry(w->sync_events, op->strength, op->pc) |
                    (uint64_t)(w->index * VM_LANES) << RACE_WHO_SHIFT;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t address = (uint32_t)w->lane_address[lane];
        for (RACE_EACH_WORD(r, word, address, op->total)) {
            struct race_span span = race_span(r, word, address, op->total);
            for (RACE_EACH_UNIT(span, unit))
                look_at_unit(w, op, lane, base + ((uint64_t)lane << RACE_WHO_SHIFT), unit);
        }
    }
    /* After all lanes have looked: those of one store do not race with each other here. A strong
     * write does not hide a plain one since the last barrier. */
    uint64_t since = (uint64_t)r->base << RACE_TIME_SHIFT;
    for (uint32_t rest = op->write ? m : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t address = (uint32_t)w->lane_address[lane];
        for (RACE_EACH_WORD(r, word, address, op->total)) {
            struct race_span span = race_span(r, word, address, op->total);
            for (RACE_EACH_UNIT(span, unit)) {
                uint64_t old = r->write[unit];
                if (old < since || race_strength_of(old) != VM_PLAIN || op->strength == VM_PLAIN)
                    r->write[unit] = base + ((uint64_t)lane << RACE_WHO_SHIFT);
            }
        }
    }
    if (op->strength != VM_PLAIN)
        race_strong_end(w, op, m);
}
