/* How strongly a memory access is ordered, for the race detector: what the instruction says, and
 * two things that only the code around it tells. A volatile load that waits for another thread is
 * no exchange in lock-step; nvcc often peels the first round of such a loop, so that a load of the
 * same place outside of it waits, too. And a volatile store of a value that was made of a volatile
 * load of the same place (c = c + 1) may undo what others stored between the two. */
#include "cpu/vm/lower.h"

enum { DEPTH = 6 };

static bool same_place(const struct lower *l, const struct ptx_operand *a,
                       const struct ptx_operand *b)
{
    if (a->kind != PTX_OPERAND_ADDR || b->kind != PTX_OPERAND_ADDR || a->imm != b->imm ||
        a->symbol != b->symbol || (a->reg < 0) != (b->reg < 0))
        return false;
    return a->reg < 0 || lower_root(l, a->reg) == lower_root(l, b->reg);
}

static bool is_strong_load(const struct ptx_instr *in)
{
    return in->op == PTX_OP_ld && in->sem != PTX_WEAK;
}

static bool is_volatile_load(const struct ptx_instr *in)
{
    return in->op == PTX_OP_ld && in->sem == PTX_VOLATILE;
}

/* Does a loop of the function wait for the place that this load reads once? */
static bool has_polling_twin(struct lower *l, const struct ptx_instr *in)
{
    uint32_t here = l->index;
    bool found = false;
    for (uint32_t k = 0; k < l->fn->instr_count && !found; k++) {
        const struct ptx_instr *twin = &l->fn->instrs[k];
        if (k == here || !is_strong_load(twin) ||
            !same_place(l, &in->operands[1], &twin->operands[1]))
            continue;
        l->index = k;
        found = lower_in_polling_loop(l);
        l->index = here;
    }
    return found;
}

/* The only instruction that writes a register, NULL if there are several. */
static const struct ptx_instr *definition(const struct lower *l, int32_t reg)
{
    if (l->regs[reg].definitions != 1 || l->regs[reg].partial)
        return NULL;
    for (uint32_t k = 0; k < l->fn->instr_count; k++) {
        const struct ptx_instr *in = &l->fn->instrs[k];
        if (in->op != PTX_OP_st && in->operand_count > 0 &&
            in->operands[0].kind == PTX_OPERAND_REG && in->operands[0].reg == reg)
            return in;
    }
    return NULL;
}

/* Was the register made of a volatile load of the place, by arithmetic alone? */
static bool made_of(const struct lower *l, int32_t reg, const struct ptx_operand *place,
                    unsigned depth)
{
    const struct ptx_instr *in = definition(l, lower_root(l, reg));
    if (!in || depth == DEPTH)
        return false;
    if (is_volatile_load(in))
        return same_place(l, &in->operands[1], place);
    switch ((int)in->op) {
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_mad:
    case PTX_OP_mul:
    case PTX_OP_fma:
    case PTX_OP_min:
    case PTX_OP_max:
    case PTX_OP_and:
    case PTX_OP_or:
    case PTX_OP_xor:
    case PTX_OP_mov:
    case PTX_OP_cvt:
        break;
    default:
        return false;
    }
    for (uint32_t k = 1; k < in->operand_count; k++)
        if (in->operands[k].kind == PTX_OPERAND_REG &&
            made_of(l, in->operands[k].reg, place, depth + 1))
            return true;
    return false;
}

bool lower_waits(struct lower *l, const struct ptx_instr *in)
{
    if (in->op == PTX_OP_atom)
        return lower_in_polling_loop(l);
    return is_strong_load(in) && (lower_in_polling_loop(l) || has_polling_twin(l, in));
}

enum vm_strength lower_strength(struct lower *l, const struct ptx_instr *in)
{
    enum vm_strength strong = in->scope == PTX_SCOPE_CTA ? VM_STRONG_CTA : VM_STRONG;
    if (in->op == PTX_OP_atom || in->op == PTX_OP_red)
        return strong;
    if (in->sem == PTX_WEAK)
        return VM_PLAIN;
    if (in->sem != PTX_VOLATILE)
        return strong;
    if (is_volatile_load(in) && lower_waits(l, in))
        return VM_POLLING;
    if (in->op == PTX_OP_st && in->operands[1].kind == PTX_OPERAND_REG &&
        made_of(l, in->operands[1].reg, &in->operands[0], 0))
        return VM_UPDATING;
    return VM_IS_VOLATILE;
}
