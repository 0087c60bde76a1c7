/* Was a flag meant to order two accesses?
 *
 * Threads that hand work over through a flag nearly always get the flag right and the fences wrong.
 * So before a pair is called a data race, the graph of who read which strong write (race_words.c)
 * is searched from the later access backwards, without regard to fences, for a strong write that
 * comes after the earlier access. If there is one, the order was meant:
 *   it released the earlier access        the later one has no fence: a warning, since GPUs let
 *                                         nearly all of that pass
 *   it released it, but to its block only the fence or the access has too narrow a scope
 *   it did not                            there is no fence between the data and the flag
 *   it is the earlier access itself       the later one has seen it: no fault
 * Two strong accesses need no order as such, so for them only those reads count that look like
 * reads of a flag: that decide a loop which waits, or atomics whose answer decides. */
#include "cpu/vm/race.h"

enum {
    STACK = 1024,
    STEPS = 20000,
    STEPS_MEANT = 2000, /* of accesses that are nearly always fine */
};

static bool comes_before(const struct race_past *past, uint64_t key, const struct race_write *n)
{
    if (past->block != n->block || past->warp != n->warp)
        return past->block == n->block && past->time < n->base;
    return past->time < n->full ||
           ((n->synced >> past->lane & 1) && past->time < n->time + (n->key == key));
}

/* A write of the same thread to the same word that comes sooner after the data: where a lock that
 * is taken again and again was first given up. */
static bool sooner(const struct race_write *n, const struct race_write *found)
{
    return n->key == found->key && n->block == found->block && n->warp == found->warp &&
           n->time < found->time;
}

bool race_released(const struct race_space *s, const void *tree, const struct race_past *past)
{
    const struct race_leaf *leaf = race_tree_find(s, tree, past->block);
    return leaf && race_leaf_covers(leaf, past->warp, past->lane, past->time);
}

/* What this write says of the pair. Later ones that are found improve on earlier ones. */
static void consider(const struct warp *w, const struct race_past *past, uint64_t key,
                     bool both_strong, const struct race_write *n, struct race_found *best)
{
    const struct race_space *s = w->block->races->space;
    bool before = comes_before(past, key, n), near = n->block == w->block->index;
    if (before && n->key == key && both_strong)
        return;
    if (before && n->key == key) {
        *best = (struct race_found){.outcome = RACE_SAME_WORD, .flag = n};
        return;
    }
    bool far_release = race_released(s, n->device, past),
         near_release = race_released(s, n->near, past);
    if (far_release || (near && near_release)) {
        if (best->outcome != RACE_READER)
            *best = (struct race_found){.outcome = RACE_READER, .flag = n};
        return;
    }
    if (before && (best->outcome == RACE_UNRELATED ||
                   (best->outcome == RACE_WRITER && sooner(n, best->flag))))
        *best = (struct race_found){.outcome = RACE_WRITER, .flag = n, .narrow = near_release};
}

struct race_found race_search(const struct warp *w, const struct race_past *past, uint64_t key,
                              bool both_strong, enum race_through through)
{
    struct race_global *g = w->engine->global_races;
    struct race_found best = {RACE_UNRELATED, NULL, false};
    struct race_read *stack[STACK];
    uint32_t height = 0, steps = 0;
    const uint32_t most = through == RACE_ALL ? STEPS : STEPS_MEANT;
    if (!g || !w->clocks->reads)
        return best;
    uint32_t mark = ++g->searches;
    stack[height++] = w->clocks->reads;
    while (height && best.outcome != RACE_SAME_WORD) {
        struct race_read *r = stack[--height];
        if (r->search == mark || ++steps > most)
            continue;
        r->search = mark;
        if (r->other && height < STACK)
            stack[height++] = r->other;
        if (r->prev && height < STACK)
            stack[height++] = r->prev;
        if (through > r->meant)
            continue;
        for (struct race_write *n = r->saw; n && n->search != mark && steps < most; n = n->prev) {
            n->search = mark;
            steps++;
            consider(w, past, key, both_strong, n, &best);
            if (through != RACE_WAITED && n->knows && n->knows->search != mark && height < STACK)
                stack[height++] = n->knows;
        }
    }
    g->steps_left -= steps < g->steps_left ? steps : g->steps_left;
    return best;
}
