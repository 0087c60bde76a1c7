/* The short ways of the race detector, for accesses that meet nothing; check_race.c has the long
 * one. For exec_reach.h only. */
#ifndef CPU_VM_EXEC_RACE_H
#define CPU_VM_EXEC_RACE_H

#include "cpu/vm/exec.h"
#include "cpu/vm/race.h"

/* The shadow of shared memory for the two commonest shapes, one word for all lanes and a word per
 * lane in a row, as long as nobody else touched them since the last barrier. false: nothing was
 * recorded, vm_race_access() has to do it. */
static inline bool race_quick(struct warp *w, const struct mem_op *op, uint32_t m, uint32_t first,
                              int64_t stride)
{
    struct race_block *r = w->block->races;
    if (op->strength != VM_PLAIN || r->shift != 2 || op->total != 4)
        return false;
    uint64_t base = race_pack(r->epoch, w->index * VM_LANES, VM_PLAIN, w->sync_events, op->pc);
    const uint64_t lane = 1ull << RACE_THREAD_SHIFT;
    uint32_t unit = first >> 2;
    if (stride == 0 || (m & (m - 1)) == 0) {
        unsigned low = LANE(m), high = 31u - (unsigned)__builtin_clz(m);
        unit = (uint32_t)((int64_t)first + stride * low) >> 2;
        uint64_t mine = base + low * lane;
        if (op->write) {
            if (low != high || race_meets(r->write[unit], mine) ||
                race_meets(r->first_read[unit], mine) || race_meets(r->last_read[unit], mine))
                return false;
            r->write[unit] = mine;
            return true;
        }
        if (r->write[unit] >> RACE_EPOCH_SHIFT == r->epoch && race_meets(r->write[unit], mine))
            return false;
        if (low != high && r->write[unit] >> RACE_EPOCH_SHIFT == r->epoch)
            return false; /* its own write, but others read it too */
        if (!race_meets(r->first_read[unit], mine))
            r->first_read[unit] = mine;
        else
            r->last_read[unit] = mine;
        if (low != high)
            r->last_read[unit] = base + high * lane;
        return true;
    }
    if (stride != 4 || m != VM_FULL || unit + VM_LANES > r->units)
        return false;
    r64 *written = r->write + unit, *one = r->first_read + unit, *other = r->last_read + unit;
    uint64_t met = 0;
    if (op->write) {
        for (unsigned l = 0; l < VM_LANES; l++) {
            uint64_t mine = base + l * lane;
            met |= (uint64_t)race_meets(written[l], mine) | (uint64_t)race_meets(one[l], mine) |
                   (uint64_t)race_meets(other[l], mine);
        }
        if (met)
            return false;
        EACH_LANE(l)
        written[l] = base + l * lane;
        return true;
    }
    for (unsigned l = 0; l < VM_LANES; l++)
        met |= (uint64_t)race_meets(written[l], base + l * lane);
    if (met)
        return false;
    EACH_LANE(l)
    {
        uint64_t mine = base + l * lane, old = one[l], last = other[l];
        bool somebody = race_meets(old, mine);
        one[l] = somebody ? old : mine;
        other[l] = somebody ? mine : last;
    }
    return true;
}

/* The same for any addresses, which are in w->lane_address. Looks at everything before it records
 * anything: lanes of one store do not race with each other here. */
static __attribute__((noinline)) bool race_lanes(struct warp *w, const struct mem_op *op,
                                                 uint32_t m)
{
    struct race_block *r = w->block->races;
    const uint32_t shift = r->shift, units = (op->total + (1u << shift) - 1) >> shift;
    const uint64_t base =
        race_pack(r->epoch, w->index * VM_LANES, VM_PLAIN, w->sync_events, op->pc);
    uint64_t met = 0;
    if (op->strength != VM_PLAIN)
        return false;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t mine = base + ((uint64_t)l << RACE_THREAD_SHIFT);
        uint32_t first = (uint32_t)w->lane_address[l] >> shift;
        for (uint32_t unit = first; unit < first + units; unit++) {
            met |= (uint64_t)race_meets(r->write[unit], mine);
            if (op->write)
                met |= (uint64_t)race_meets(r->first_read[unit], mine) |
                       (uint64_t)race_meets(r->last_read[unit], mine);
        }
    }
    if (met)
        return false;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t mine = base + ((uint64_t)l << RACE_THREAD_SHIFT);
        uint32_t first = (uint32_t)w->lane_address[l] >> shift;
        for (uint32_t unit = first; unit < first + units; unit++) {
            if (op->write)
                r->write[unit] = mine;
            else if (race_meets(r->first_read[unit], mine))
                r->last_read[unit] = mine;
            else
                r->first_read[unit] = mine;
        }
    }
    return true;
}

#endif
