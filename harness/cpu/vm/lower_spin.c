/* What does the way of a loop that polls depend on? For sched_stuck.c, which asks whether a warp
 * has come back to where it was: registers that the loop only counts in (polls, rounds of back-off)
 * may differ without any difference to what the warp does next.
 *
 * A warp that comes back to a pc in the same function stays, on its way, within the strongly
 * connected component of that pc. Of the component's instructions, those that do anything besides
 * computing a register (accesses, operations across lanes, branches that leave it) matter, with all
 * that they read, and so does every instruction that computes something that matters (a slice,
 * Weiser 1981). A branch within the component matters if its two ways come to different
 * instructions that matter (weak control closure, Danicic et al. 2011): how long to sleep before
 * the next poll does not. Components that call functions, or in which clocks matter, are left
 * alone: there everything matters. */
#include "cpu/vm/lower.h"

#include <string.h>

enum { SPINS_MOST = 16 };

struct slice {
    uint32_t *todo;       /* instructions */
    bool *after, *before; /* per instruction: comes after the head, before it */
    bool *acts;           /* per instruction: matters */
    uint32_t *next;       /* per instruction: the first that matters from here on, or below */
    bool *matters;        /* per register */
    bool grows, in;       /* `in`: the instruction looked at matters */
};
#define NEXT_NONE 0xffffffffu /* none found yet */
#define NEXT_MANY 0xfffffffeu /* it depends */

/* ---- the component ---- */

static bool is_branch(const struct ptx_instr *in)
{
    return in->op == PTX_OP_bra && in->operands[0].kind == PTX_OPERAND_LABEL;
}

/* Does the instruction after this one follow it? */
static bool falls(const struct ptx_instr *in)
{
    return !lower_ends_block(in) || in->guard >= 0;
}

static bool leads_to(const struct lower *l, uint32_t k, const bool *set)
{
    const struct ptx_instr *in = &l->fn->instrs[k];
    bool leads = falls(in) && k + 1 < l->fn->instr_count && set[k + 1];
    if (is_branch(in))
        leads |= set[in->operands[0].imm];
    if (in->op == PTX_OP_brx)
        for (uint32_t t = 0; t < in->operands[1].element_count; t++)
            leads |= set[in->operands[1].elements[t].imm];
    return leads;
}

static void reach(struct slice *s, uint32_t *count, uint32_t k, uint32_t instructions)
{
    if (k >= instructions || s->after[k])
        return;
    s->after[k] = true;
    s->todo[(*count)++] = k;
}

/* Fills `after` and `before`: the component are those in both. */
static void find_component(struct lower *l, struct slice *s, uint32_t head)
{
    const uint32_t n = l->fn->instr_count;
    uint32_t count = 0;
    memset(s->after, 0, n * sizeof *s->after);
    memset(s->before, 0, n * sizeof *s->before);
    reach(s, &count, head, n);
    while (count) {
        const uint32_t k = s->todo[--count];
        const struct ptx_instr *in = &l->fn->instrs[k];
        if (falls(in))
            reach(s, &count, k + 1, n);
        if (is_branch(in))
            reach(s, &count, (uint32_t)in->operands[0].imm, n);
        if (in->op == PTX_OP_brx)
            for (uint32_t t = 0; t < in->operands[1].element_count; t++)
                reach(s, &count, (uint32_t)in->operands[1].elements[t].imm, n);
    }
    s->before[head] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = n; k-- > 0;)
            if (s->after[k] && !s->before[k] && leads_to(l, k, s->before))
                s->before[k] = more = true;
    }
}

static bool is_inside(const struct slice *s, uint32_t k)
{
    return s->after[k] && s->before[k];
}

static bool reads_clock(const struct ptx_instr *in)
{
    for (unsigned k = 0; k < in->operand_count; k++)
        if (in->operands[k].kind == PTX_OPERAND_SREG &&
            lower_is_clock((enum ptx_sreg)in->operands[k].imm))
            return true;
    return false;
}

/* ---- what matters ---- */

static void look_at_written(struct lower *l, int32_t reg, bool written, void *context)
{
    struct slice *s = context;
    if (written)
        s->in |= s->matters[lower_root(l, reg)];
}

static void add_read(struct lower *l, int32_t reg, bool written, void *context)
{
    struct slice *s = context;
    bool *matters = &s->matters[lower_root(l, reg)];
    if (written || *matters)
        return;
    *matters = s->grows = true;
}

static bool may_not_matter(const struct lower *l, const struct slice *s, uint32_t k)
{
    const struct ptx_instr *in = &l->fn->instrs[k];
    if (is_branch(in)) {
        const uint32_t target = (uint32_t)in->operands[0].imm;
        return in->guard < 0 ||
               (is_inside(s, target) && k + 1 < l->fn->instr_count && is_inside(s, k + 1));
    }
    return lower_is_pure(in) || in->op == PTX_OP_nanosleep;
}

static uint32_t meet(uint32_t a, uint32_t b)
{
    if (a == NEXT_NONE || a == b)
        return b;
    return b == NEXT_NONE ? a : NEXT_MANY;
}

static uint32_t next_of(const struct lower *l, const struct slice *s, uint32_t k)
{
    const struct ptx_instr *in = &l->fn->instrs[k];
    uint32_t next = NEXT_NONE;
    if (s->acts[k])
        return k;
    if (falls(in))
        next = s->next[k + 1];
    return is_branch(in) ? meet(next, s->next[in->operands[0].imm]) : next;
}

/* Marks branches whose ways part. */
static void add_branches(struct lower *l, struct slice *s)
{
    const uint32_t n = l->fn->instr_count;
    for (uint32_t k = 0; k <= n; k++)
        s->next[k] = NEXT_NONE;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = n; k-- > 0;) {
            const uint32_t next = is_inside(s, k) ? next_of(l, s, k) : NEXT_NONE;
            more |= next != s->next[k];
            s->next[k] = next;
        }
    }
    /* Where both ways are known; if there is no such branch, where one is not. */
    for (int pass = 0; pass < 2 && !s->grows; pass++)
        for (uint32_t k = 0; k < n; k++) {
            const struct ptx_instr *in = &l->fn->instrs[k];
            if (!is_inside(s, k) || s->acts[k] || !is_branch(in) || in->guard < 0 ||
                s->next[k] != NEXT_MANY)
                continue;
            const uint32_t a = s->next[k + 1], b = s->next[in->operands[0].imm];
            if (pass || (a != NEXT_MANY && b != NEXT_MANY))
                s->acts[k] = s->grows = true;
        }
}

/* false: everything matters. */
static bool find_slice(struct lower *l, struct slice *s)
{
    const uint32_t n = l->fn->instr_count;
    memset(s->matters, 0, l->fn->reg_count * sizeof *s->matters);
    for (uint32_t k = 0; k < n; k++) {
        s->acts[k] = is_inside(s, k) && !may_not_matter(l, s, k);
        if (is_inside(s, k) &&
            (l->fn->instrs[k].op == PTX_OP_call || (l->fn->instrs[k].flags & PTX_F_CC)))
            return false;
    }
    do {
        s->grows = false;
        for (uint32_t k = 0; k < n; k++) {
            const struct ptx_instr *in = &l->fn->instrs[k];
            if (!is_inside(s, k))
                continue;
            s->in = s->acts[k];
            lower_registers(l, in, look_at_written, s);
            s->grows |= s->in != s->acts[k];
            s->acts[k] = s->in;
            if (s->in && reads_clock(in))
                return false;
            if (s->in)
                lower_registers(l, in, add_read, s);
        }
        if (!s->grows)
            add_branches(l, s);
    } while (s->grows);
    return true;
}

/* ---- the result ---- */

static void keep(struct lower *l, const struct slice *s)
{
    static const uint32_t BYTES[] = {
        [REG_PRED] = 4, [REG_32] = VM_ROW32, [REG_64] = VM_ROW64, [REG_128] = 2 * VM_ROW64};
    struct vm_code *c = l->code;
    struct vm_spin *spin = &c->spins[c->spin_count++];
    spin->heads = arena_array(&c->arena, l->fn->instr_count + 1, sizeof *spin->heads);
    spin->places = arena_array(&c->arena, l->fn->reg_count + 1, sizeof *spin->places);
    for (uint32_t k = 0; k < l->fn->instr_count; k++)
        if (s->after[k] && s->before[k] && l->leader[k])
            spin->heads[spin->head_count++] = l->head[k];
    for (uint32_t r = 0; r < l->fn->reg_count; r++) {
        const struct reg_info *info = &l->regs[r];
        if (s->matters[r] && info->copy_of < 0 && info->placed && !info->place.slot)
            spin->places[spin->place_count++] =
                (struct vm_place){.at = info->place.at, .bytes = BYTES[info->kind]};
    }
}

void lower_find_spins(struct lower *l)
{
    const uint32_t n = l->fn->instr_count;
    struct slice s = {0};
    for (uint32_t k = 0; l->fn->is_entry && k < n; k++) {
        const struct ptx_instr *in = &l->fn->instrs[k];
        if (!is_branch(in) || in->operands[0].imm > (int64_t)k ||
            l->code->spin_count == SPINS_MOST || !lower_polls(l, (uint32_t)in->operands[0].imm, k))
            continue;
        if (!s.todo) {
            s.todo = arena_array(&l->scratch, n + 1, sizeof *s.todo);
            s.after = arena_array(&l->scratch, n + 1, sizeof *s.after);
            s.before = arena_array(&l->scratch, n + 1, sizeof *s.before);
            s.acts = arena_array(&l->scratch, n + 1, sizeof *s.acts);
            s.next = arena_array(&l->scratch, n + 1, sizeof *s.next);
            s.matters = arena_array(&l->scratch, l->fn->reg_count + 1, sizeof *s.matters);
            l->code->spins = arena_array(&l->code->arena, SPINS_MOST, sizeof *l->code->spins);
        }
        find_component(l, &s, (uint32_t)in->operands[0].imm);
        if (find_slice(l, &s))
            keep(l, &s);
    }
}
