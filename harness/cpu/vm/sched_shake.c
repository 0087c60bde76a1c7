/* What WIRE_INTERLEAVED does beyond choosing blocks and warps at random.
 *
 * Lanes that no *.sync holds together run at speeds of their own since sm_70. So a group of lanes
 * may be parted before any access to memory, and the groups of a warp take turns in any order; they
 * are one again where they meet. The code is lowered for it: every access begins a block
 * (lower_fine.c), and turns end at those.
 *
 * One kind of randomness does not find everything: very short turns keep all threads at about the
 * same place, and a reader that must fall behind by a whole loop needs somebody who is slow all the
 * time. So each launch draws habits first: how long turns are, how often lanes part, how many warps
 * are slow (after the random priorities of Burckhardt et al., ASPLOS 2010).
 *
 * A warp is loose as long as memory changes around it. When nobody has changed anything for a while
 * its groups run in the usual order again, which is fair, and whose circles sched_stuck.c sees. */
#include "cpu/vm/sched.h"

enum {
    STILL_TURNS = 24,
    LONG_TURN = 2000, /* instructions */
    LONG_TURN_IN = 24,
    SLOWNESS = 16, /* a slow warp takes one turn of so many */
};

void shake_start(struct shake *k, struct vm_engine *e)
{
    static const int32_t TURNS[] = {1, 6, 24, 120};
    static const uint32_t PARTS[] = {0, 1, 2, 6}, MEETS[] = {0, 2, 8, 2};
    static const uint32_t SLOW[] = {0, 8, 3, 2}, ACTIVE[] = {2, 4, 8, 16};
    *k = (struct shake){
        .turn_most = TURNS[sched_draw(e, 4)],
        .part_in = PARTS[sched_draw(e, 4)],
        .meet_in = MEETS[sched_draw(e, 4)],
        .slow_in = SLOW[sched_draw(e, 4)],
        .active = ACTIVE[sched_draw(e, 4)],
        .slow_key = rng_mix(e->rng_key),
    };
}

bool shake_waits(const struct shake *k, const struct warp *w)
{
    if (!k->slow_in || !w->loose)
        return false;
    uint64_t who = w->block->index * VM_WARPS_MOST + w->index;
    return rng_below(k->slow_key, who, k->slow_in) == 0 && sched_draw(w->engine, SLOWNESS);
}

/* Some of the lanes in m, which has more than one: one, those below or above a cut, or any. */
static uint32_t some_lanes(struct vm_engine *e, uint32_t m)
{
    uint32_t cut = 1u << (1 + sched_draw(e, VM_LANES - 1)), some = 0;
    switch (sched_draw(e, 4)) {
    case 0:
        some = cut - 1;
        break;
    case 1:
        some = ~(cut - 1);
        break;
    case 2:
        some = cut;
        break;
    default:
        some = (uint32_t)sched_draw(e, VM_FULL);
        break;
    }
    some &= m;
    return some && some != m ? some : m & (0u - m);
}

int32_t shake_warp(const struct shake *k, struct warp *w)
{
    struct vm_engine *e = w->engine;
    bool apart = false;
    if (w->still_version != e->version) {
        w->still_version = e->version;
        w->still_turns = 0;
    }
    w->loose = w->still_turns < STILL_TURNS;
    w->still_turns++;
    if (w->loose && w->mask) {
        apart = !k->meet_in || sched_draw(e, k->meet_in);
        if (k->part_in && (w->mask & (w->mask - 1)) && sched_draw(e, k->part_in) == 0) {
            vm_part_lanes(w, some_lanes(e, w->mask));
            apart = true;
        }
        if (sched_draw(e, 2))
            vm_change_group(w);
    }
    vm_watch_groups(w);
    if (apart) /* nobody joins them before something else happens to the groups */
        w->join_pc = UINT32_MAX;
    if (sched_draw(e, LONG_TURN_IN) == 0)
        return LONG_TURN;
    return (int32_t)sched_draw(e, (uint64_t)k->turn_most);
}
