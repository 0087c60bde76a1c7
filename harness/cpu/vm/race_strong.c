/* Two strong accesses that nothing orders are no race. They are a fault where a flag was meant to
 * order them and could not, since the fence is missing: value and flag both by relaxed atomics, or
 * both volatile. race_search.c finds the flag; here is asked whether the earlier one wrote anything
 * that its flag might overtake, and whether the later one relies on it.
 *
 * A value that one thread puts into a word (a store, an exchange) is relied on by whoever reads it
 * after the flag, or stores over it. A sum that many add to is relied on by those that have waited
 * for all who add; whoever has not, takes what is there: a statistic, the best so far. What is read
 * of a sum is therefore only suspected until the end of the launch, and acquitted if somebody else
 * adds to it later that has not waited for the reader. */
#include "cpu/vm/race.h"

enum { SHARES = 64 };

enum written { NOTHING, VALUE, SHARE };

static enum written written_by(const struct vm_engine *e, uint32_t pc)
{
    const struct ptx_instr *in = e->code->origins[pc];
    if (!in || (in->op != PTX_OP_st && in->op != PTX_OP_atom && in->op != PTX_OP_red))
        return NOTHING;
    if (in->op == PTX_OP_st)
        return VALUE;
    /* Once its thread has used the answer of an atomic, it has happened. */
    const struct mem_op *op = (const struct mem_op *)(uintptr_t)e->code->insns[pc].imm;
    if (op->answered)
        return NOTHING;
    return in->sub == PTX_EXCH || in->sub == PTX_CAS ? VALUE : SHARE;
}

/* Was a flag meant to bring `past` before what the lane does now? */
static bool meant(struct warp *w, unsigned lane, uint64_t key, const struct race_past *past)
{
    return race_ordered(w, lane, past) ||
           race_search(w, past, key, false, RACE_MEANT).outcome != RACE_UNRELATED;
}

static struct race_past past_of(const struct race_write *n)
{
    return (struct race_past){.block = n->block,
                              .entry = race_entry(0, VM_STRONG, n->pc),
                              .warp = n->warp,
                              .lane = (uint32_t)__builtin_ctz(n->lanes),
                              .time = n->time,
                              .base = n->base,
                              .writes = true,
                              .shared = n->key <= VM_SHARED_BYTES};
}

static bool is_own(const struct warp *w, const struct race_write *n)
{
    return n->block == w->block->index && n->warp == w->index;
}

/* Has the reader waited for all that have added to the word? */
static bool waited_for_all(struct warp *w, unsigned lane, uint64_t key)
{
    const struct race_word *word = race_find_word(race_words_of(w, key), key, false);
    uint32_t shares = 0;
    for (const struct race_write *n = word ? word->last : NULL; n && shares < SHARES; n = n->prev) {
        const struct race_past share = past_of(n);
        shares++;
        if (!is_own(w, n) && !meant(w, lane, key, &share))
            return false;
    }
    return true;
}

void race_judge_sum(struct warp *w, const struct mem_op *op, unsigned lane,
                    const struct race_word *word)
{
    uint32_t shares = 0;
    for (const struct race_write *n = word->last; n && shares < SHARES; n = n->prev) {
        const struct race_past share = past_of(n);
        shares++;
        if (is_own(w, n) || race_ordered(w, lane, &share))
            continue;
        race_judge_strong(w, op, lane, &share);
        return;
    }
}

/* Somebody reads the sum here who has not waited for all: nobody does who reads it here. */
static void acquit_place(struct race_global *g, uint32_t pc)
{
    for (uint32_t k = 0; k < g->suspect_count; k++)
        if (race_pc_of(g->suspects[k].reader.entry) == pc)
            g->suspects[k--] = g->suspects[--g->suspect_count];
}

static void suspect(struct warp *w, const struct mem_op *op, unsigned lane, uint64_t key,
                    const struct wire_finding *finding)
{
    struct race_global *g = w->engine->global_races;
    if (g->suspect_count == RACE_SUSPECTS)
        return;
    g->suspects[g->suspect_count++] =
        (struct race_suspect){.key = key,
                              .reader = {.block = w->block->index,
                                         .entry = race_entry(0, op->strength, op->pc),
                                         .warp = w->index,
                                         .lane = lane,
                                         .time = w->sync_events,
                                         .base = w->block->races->base,
                                         .shared = key <= VM_SHARED_BYTES},
                              .finding = *finding};
}

void race_judge_strong(struct warp *w, const struct mem_op *op, unsigned lane,
                       const struct race_past *past)
{
    struct vm_engine *e = w->engine;
    const uint32_t theirs = race_pc_of(past->entry);
    if (op->waits || !past->writes || !e->global_races->steps_left)
        return;
    const enum written written = written_by(e, theirs);
    const bool told = race_told(e, op->pc | RACE_TOLD, theirs);
    if (written == NOTHING || (told && !(written == SHARE && e->global_races->suspect_count)) ||
        (op->write && race_writes_the_same(w, op, lane, past->shared)))
        return;
    const uint64_t key = (w->lane_address[lane] & ~3ull) + 1;
    const struct race_found f = race_search(w, past, key, false, RACE_MEANT);
    struct wire_finding finding;
    if (written == SHARE && !op->write &&
        (f.outcome == RACE_UNRELATED || !waited_for_all(w, lane, key))) {
        race_first_time(e, op->pc | RACE_TOLD, theirs);
        acquit_place(e->global_races, op->pc);
        return;
    }
    /* What is stored after the flag was read comes after the flag, and so do, on every GPU,
     * volatile reads behind the count of those that are done: NVIDIA's threadFenceReduction relies
     * on it. */
    const bool reader = f.outcome == RACE_READER && !op->write &&
                        race_search(w, past, key, false, RACE_WAITED).outcome == RACE_READER;
    if (told || (f.outcome != RACE_WRITER && !reader))
        return;
    race_first_time(e, op->pc | RACE_TOLD, theirs);
    if (!race_missing_fence(w, op, lane, past, &f, &finding))
        return;
    if (written == SHARE)
        suspect(w, op, lane, key, &finding);
    else
        vm_add_finding(e->vm, &finding);
}

void race_acquit(struct warp *w, unsigned lane, uint64_t key)
{
    struct race_global *g = w->engine->global_races;
    for (uint32_t k = 0; k < g->suspect_count; k++) {
        const struct race_past *reader = &g->suspects[k].reader;
        bool elsewhere = reader->shared && reader->block != w->block->index;
        bool own = reader->block == w->block->index && reader->warp == w->index;
        if (g->suspects[k].key == key && !elsewhere && !own && !meant(w, lane, key, reader))
            g->suspects[k--] = g->suspects[--g->suspect_count];
    }
}

void race_convict(struct vm_engine *e)
{
    struct race_global *g = e->global_races;
    for (uint32_t k = 0; k < g->suspect_count; k++)
        vm_add_finding(e->vm, &g->suspects[k].finding);
    g->suspect_count = 0;
}
