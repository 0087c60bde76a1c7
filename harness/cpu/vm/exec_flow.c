/* Control flow. The common cases are decided here; everything that moves lanes between groups is in
 * sched_warp.c, which leaves what to run next in the warp. */
#include "cpu/vm/exec.h"
#include "cpu/vm/watch.h"

HANDLER(end)
{
    w->halt = true;
    w->stop = VM_STOP_DONE;
    (void)i;
}

HANDLER(nop)
{
    NEXT;
}

__attribute__((noinline)) HANDLER(part)
{
    vm_diverge(w, w->taken, vm_pc(w, TARGET), m & ~w->taken, vm_pc(w, i + 1));
    RESUME;
}

/* The turn ends at block heads only. */
CONTINUED(look_around)
{
    w->resume = i;
    w->mask = m;
    if (w->budget < 0) {
        w->halt = true;
        w->stop = VM_STOP_BUDGET;
        return;
    }
    vm_join(w, i->b);
    if (w->resume != i)
        RESUME; /* another group's turn */
    m = w->mask;
    f = w->frame;
    w->budget -= (int32_t)i->a;
    w->lane_count += i->imm * vm_popcount(m);
    NEXT;
}

HANDLER(block)
{
    if (__builtin_expect((w->budget < 0) | (i->b >= w->join_pc), 0))
        return look_around(i, f, u, m, w);
    w->budget -= (int32_t)i->a;
    w->lane_count += i->imm * vm_popcount(m);
    NEXT;
}

HANDLER(bra)
{
    ENTER(TARGET);
}

HANDLER(bra_if)
{
    BRANCH_IF(PRED(i->a) ^ i->b);
}

HANDLER(bra_over)
{
    const uint32_t taken = (PRED(i->a) ^ i->b) & m;
    if (taken == m)
        ENTER(TARGET);
    if (taken == 0)
        NEXT;
    PART(taken);
}

CONTINUED(go_back)
{
    w->mask = m;
    vm_backward(w, vm_pc(w, TARGET), i->y);
    RESUME;
}

CONTINUED(part_back)
{
    const uint32_t taken = w->taken;
    vm_diverge(w, taken, vm_pc(w, TARGET), m & ~taken, vm_pc(w, i + 1));
    if (w->mask == taken && w->resume == TARGET)
        vm_backward(w, vm_pc(w, TARGET), i->y);
    RESUME;
}

HANDLER(bra_back)
{
    if (__builtin_expect(w->group_count == 0 && !i->y, 1))
        RUN(TARGET);
    return go_back(i, f, u, m, w);
}

HANDLER(bra_back_if)
{
    const uint32_t taken = (PRED(i->a) ^ i->b) & m;
    if (taken == 0)
        NEXT;
    if (taken != m) {
        w->taken = taken;
        return part_back(i, f, u, m, w);
    }
    if (__builtin_expect(w->group_count == 0 && !i->y, 1))
        RUN(TARGET);
    return go_back(i, f, u, m, w);
}

HANDLER(brx)
{
    vm_branch_table(w, i, m);
    RESUME;
}

HANDLER(profile)
{
    struct point_count *n = &w->engine->points[i->x];
    n->warps++;
    n->lanes += vm_popcount(m);
    NEXT;
}

HANDLER(additions)
{
    w->lane_count += (uint64_t)i->x * vm_popcount(m) << 32;
    NEXT;
}

HANDLER(guard)
{
    uint32_t on = (PRED(i->a) ^ i->b) & m;
    w->saved_guard = m;
    if (on == 0)
        RUN(i + 1 + i->x);
    m = on;
    NEXT;
}

HANDLER(unguard)
{
    m = w->saved_guard;
    NEXT;
}

HANDLER(exit)
{
    vm_exit_lanes(w, m);
    RESUME;
}

HANDLER(ret)
{
    vm_return(w, m);
    RESUME;
}

HANDLER(reserve)
{
    if (!vm_reserve(w, i, m))
        return;
    f = w->frame;
    NEXT;
}

HANDLER(call)
{
    vm_call(w, i, m);
    RESUME;
}

HANDLER(call_row)
{
    vm_call_row(w, i, m);
    RESUME;
}

HANDLER(extern_call)
{
    vm_columns_end(w->engine);
    vm_extern_call(w, i, m);
    if (w->halt)
        return;
    NEXT;
}

HANDLER(trap)
{
    vm_trap(w, i, m);
}

HANDLER(nanosleep)
{
    vm_nanosleep(w);
    NEXT;
}

HANDLER(barrier)
{
    vm_barrier_arrive(w, i, m);
    RESUME;
}

/* clock64 counts the warp's instructions, so that two runs agree. d: row; x: enum
 * ptx_sreg; y: wide; b: the block's head, a: instructions from there to here
 */
HANDLER(clock)
{
    uint64_t now = vm_read_clock(w, i);
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        if (i->y)
            ROW(r64, i->d)[l] = now;
        else
            ROW(r32, i->d)[l] = (uint32_t)now;
    }
    NEXT;
}
