/* Which instructions add data? That is what "Blelloch makes 2n additions" speaks of, and what the
 * counter `additions` counts: not the arithmetic of indices, addresses and loops.
 *
 * An addition counts if one of its operands was read from memory or came from another lane, and its
 * result ends up in memory or in another lane; in both cases directly or through further
 * instructions. So data flows in at loads, atomics, shuffles, votes and reductions across lanes,
 * also through comparisons into selections and guards; it flows out at the values of stores and
 * atomics and at the sources of shuffles and reductions. Addresses and comparisons are no way out:
 * what is only used to find a place or to decide a branch is no data.
 *
 * Decided once per instruction, for registers as a whole and whatever way the program takes, which
 * makes the count exact and the same on every run. add, sub, mad, fma and the adding atomics and
 * reductions count one, packed pairs two, dot products one per product; the second half of an
 * addition with carry counts nothing. */
#include "cpu/vm/lower.h"

struct flow {
    bool *from_data, *to_data; /* per register */
    bool any_from, any_to;     /* of the registers just looked at */
    bool changed;
};

static unsigned weight(const struct ptx_instr *in)
{
    unsigned parts = 1;
    switch ((int)in->type) {
    case PTX_U16X2:
    case PTX_S16X2:
    case PTX_F16X2:
    case PTX_BF16X2:
    case PTX_F32X2:
        parts = 2;
        break;
    default:
        break;
    }
    switch ((int)in->op) {
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_mad:
    case PTX_OP_mad24:
    case PTX_OP_fma:
        return parts;
    case PTX_OP_sad:
    case PTX_OP_dp2a:
        return 2;
    case PTX_OP_dp4a:
        return 4;
    case PTX_OP_atom:
    case PTX_OP_red:
        return in->sub == PTX_ADD ? parts * (in->vec > 1 ? in->vec : 1u) : 0;
    case PTX_OP_redux:
        return in->sub == PTX_ADD;
    default:
        return 0;
    }
}

/* Is what it writes data, whatever it reads? */
static bool gives_data(const struct lower *l, const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_ld: {
        const struct ptx_operand *a = &in->operands[1];
        bool of_launch = in->space == PTX_PARAM && l->fn->is_entry &&
                         !(a->symbol >= 0 && l->ptx->symbols[a->symbol].is_call_param);
        return !of_launch;
    }
    case PTX_OP_ldu:
    case PTX_OP_ldmatrix:
    case PTX_OP_movmatrix:
    case PTX_OP_atom:
    case PTX_OP_shfl:
    case PTX_OP_vote:
    case PTX_OP_match:
    case PTX_OP_redux:
        return true;
    default:
        return false;
    }
}

/* The operand from which on registers are values that leave; operand_count = none. Those before it
 * are destinations and addresses. */
static unsigned first_leaving(const struct ptx_instr *in, unsigned *end)
{
    *end = in->operand_count;
    switch ((int)in->op) {
    case PTX_OP_st:
    case PTX_OP_stmatrix:
    case PTX_OP_red:
        return 1;
    case PTX_OP_atom:
        return 2;
    case PTX_OP_shfl:
    case PTX_OP_redux:
        *end = 2;
        return 1;
    default:
        return in->operand_count;
    }
}

/* Do its operands end up in its result? Not where they are addresses, compared, or sent away. */
static bool passes_on(const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_ld:
    case PTX_OP_ldu:
    case PTX_OP_ldmatrix:
    case PTX_OP_atom:
    case PTX_OP_shfl:
    case PTX_OP_vote:
    case PTX_OP_match:
    case PTX_OP_redux:
    case PTX_OP_setp:
    case PTX_OP_set:
    case PTX_OP_testp:
    case PTX_OP_isspacep:
    case PTX_OP_mbarrier:
    case PTX_OP_call:
        return false;
    default:
        return true;
    }
}

static void look(struct lower *l, int32_t reg, bool written, void *context)
{
    struct flow *f = context;
    (void)l;
    if (written)
        f->any_to |= f->to_data[reg];
    else
        f->any_from |= f->from_data[reg];
}

static void set(struct flow *f, bool *flag)
{
    f->changed |= !*flag;
    *flag = true;
}

static void note_from(struct lower *l, int32_t reg, bool written, void *context)
{
    struct flow *f = context;
    (void)l;
    if (written)
        set(f, &f->from_data[reg]);
}

static void note_to(struct lower *l, int32_t reg, bool written, void *context)
{
    struct flow *f = context;
    if (!written && l->regs[reg].kind != REG_PRED)
        set(f, &f->to_data[reg]);
}

/* The registers of one operand. */
static void note_leaving(struct lower *l, const struct ptx_operand *o, struct flow *f)
{
    for (uint32_t k = 0; o->kind == PTX_OPERAND_VEC && k < o->element_count; k++)
        note_leaving(l, &o->elements[k], f);
    if (o->kind == PTX_OPERAND_REG && o->reg >= 0)
        note_to(l, o->reg, false, f);
}

static void follow(struct lower *l, const struct ptx_instr *in, struct flow *f)
{
    f->any_from = f->any_to = false;
    lower_registers(l, in, look, f);
    if (f->any_from || gives_data(l, in))
        lower_registers(l, in, note_from, f);
    if (f->any_to && passes_on(in))
        lower_registers(l, in, note_to, f);
    unsigned end;
    for (unsigned k = first_leaving(in, &end); k < end && k < in->operand_count; k++)
        note_leaving(l, &in->operands[k], f);
}

void lower_find_additions(struct lower *l)
{
    struct flow f = {0};
    uint32_t n = l->fn->instr_count;
    l->additions =
        arena_array(l->profiled ? &l->code->arena : &l->scratch, n + 1, sizeof *l->additions);
    f.from_data = arena_array(&l->scratch, l->fn->reg_count + 1, sizeof *f.from_data);
    f.to_data = arena_array(&l->scratch, l->fn->reg_count + 1, sizeof *f.to_data);
    do { /* forwards and backwards, so that either direction is quick */
        f.changed = false;
        for (uint32_t k = 0; k < n; k++)
            follow(l, &l->fn->instrs[k], &f);
        for (uint32_t k = n; k-- > 0;)
            follow(l, &l->fn->instrs[k], &f);
    } while (f.changed);
    for (uint32_t k = 0; k < n; k++) {
        const struct ptx_instr *in = &l->fn->instrs[k];
        unsigned w = weight(in);
        if (!w)
            continue;
        f.any_from = f.any_to = false;
        lower_registers(l, in, look, &f);
        bool always = !passes_on(in) || in->op == PTX_OP_red; /* atomics, redux */
        if (always || (f.any_from && f.any_to))
            l->additions[k] = (uint8_t)w;
    }
}
