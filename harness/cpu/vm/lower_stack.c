/* alloca, stacksave, stackrestore. A function that has them keeps a row with how much local memory
 * its frame uses so far; a callee's memory begins behind that. */
#include "cpu/vm/lower.h"

bool lower_has_stack(const struct ptx_function *f)
{
    for (uint32_t k = 0; k < f->instr_count; k++)
        if (f->instrs[k].op == PTX_OP_alloca || f->instrs[k].op == PTX_OP_stackrestore)
            return true;
    return false;
}

/* The row, at a function's entry. */
void lower_start_stack(struct lower *l)
{
    struct insn *i = lower_emit(l, &l->main, VM_OP_spread_64);
    i->d = l->stack_used;
    i->a = lower_constant(l, l->out->local_bytes);
}

/* Where the frame's local memory begins, as a row. */
static uint32_t base_row(struct lower *l, unsigned t)
{
    if (!l->fn->is_entry)
        return FRAME_LOCAL_BASE;
    struct insn *i = lower_emit(l, &l->main, VM_OP_spread_64);
    i->d = lower_temp(t);
    i->a = lower_constant(l, VM_LOCAL_START);
    return lower_temp(t);
}

/* The value of an operand as a row of 8 bytes per lane. */
static uint32_t wide_row(struct lower *l, const struct ptx_operand *o)
{
    struct place p = lower_place(l, o, PTX_U64);
    if (o->kind != PTX_OPERAND_REG || lower_is_wide(l, o->reg))
        return lower_row(l, &l->main, p, true, 0);
    uint32_t narrow = lower_row(l, &l->main, p, false, 1);
    lower_unary(l, &l->main, VM_OP_zext32_64, lower_temp(0), narrow);
    return lower_temp(0);
}

bool lower_stack(struct lower *l, const struct ptx_instr *in)
{
    if (in->op != PTX_OP_alloca && in->op != PTX_OP_stacksave && in->op != PTX_OP_stackrestore)
        return false;
    const struct ptx_operand *o = in->operands;
    if (in->op == PTX_OP_stackrestore) {
        uint32_t to = wide_row(l, &o[0]);
        uint32_t base = base_row(l, 1);
        struct insn *i = lower_emit(l, &l->main, VM_OP_sub_64);
        i->d = l->stack_used;
        i->a = to;
        i->b = base;
        return true;
    }
    if (o[0].kind != PTX_OPERAND_REG)
        return false;
    struct result d = lower_result(l, &o[0]);
    uint32_t at = d.wide ? d.row : lower_temp(2);
    if (in->op == PTX_OP_stacksave) {
        uint32_t base = base_row(l, 1);
        struct insn *i = lower_emit(l, &l->main, l->stack_used ? VM_OP_add_64 : VM_OP_add_64_vs);
        i->d = at;
        i->a = base;
        i->b = l->stack_used ? l->stack_used : lower_constant(l, l->out->local_bytes);
    } else {
        uint32_t bytes = wide_row(l, &o[1]);
        struct insn *i = lower_emit(l, &l->main, VM_OP_alloca);
        i->d = at;
        i->a = bytes;
        i->c = l->stack_used;
        i->x = in->operand_count > 2 ? (uint32_t)o[2].imm : 16;
    }
    if (!d.wide)
        lower_unary(l, &l->main, VM_OP_trunc64_32, d.row, at);
    return true;
}
