/* mov with its packing and unpacking, cvta, selp, logic on predicates, lop3, isspacep. */
#include "cpu/vm/lower.h"

static bool lower_pack(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *v = &in->operands[1];
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    unsigned part = v->element_count ? bytes / v->element_count : 0;
    struct result d = lower_result(l, &in->operands[0]);
    if (bytes == 8 && v->element_count == 2) {
        uint32_t low = lower_row(l, d.stream, lower_place(l, &v->elements[0], PTX_B32), false, 0);
        uint32_t high = lower_row(l, d.stream, lower_place(l, &v->elements[1], PTX_B32), false, 1);
        struct insn *i = lower_emit(l, d.stream, VM_OP_pack_64);
        i->d = d.row;
        i->a = low;
        i->b = high;
        lower_finish(l, &d);
        return true;
    }
    if ((part != 1 && part != 2) || (bytes == 8 && part == 1))
        return false;
    /* Narrow parts: words of 32 bits from parts, then a pack if there are two. */
    unsigned per_word = (bytes < 4 ? bytes : 4) / part;
    for (unsigned word = 0; word * per_word < v->element_count; word++) {
        uint32_t sum = lower_temp(word);
        for (unsigned k = 0; k < per_word; k++) {
            struct place p = lower_place(l, &v->elements[word * per_word + k], PTX_B32);
            uint32_t at = lower_row(l, d.stream, p, false, 2);
            uint32_t to = k ? lower_temp(2) : sum;
            lower_unary(l, d.stream, part == 1 ? VM_OP_zext8_32 : VM_OP_zext16_32, to, at);
            if (!k)
                continue;
            struct insn *i = lower_emit(l, d.stream, VM_OP_shl_32_vs);
            i->d = i->a = to;
            i->b = lower_constant(l, 8ull * part * k);
            i = lower_emit(l, d.stream, VM_OP_or_32);
            i->d = i->a = sum;
            i->b = to;
        }
    }
    struct insn *i = lower_emit(l, d.stream, bytes == 8 ? VM_OP_pack_64 : VM_OP_mov_32);
    i->d = d.row;
    i->a = lower_temp(0);
    i->b = lower_temp(1);
    lower_finish(l, &d);
    return true;
}

static bool lower_unpack(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *v = &in->operands[0];
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    unsigned part = v->element_count ? bytes / v->element_count : 0;
    if (bytes > 8 || part == 0 || part > 4)
        return false;
    uint32_t at = lower_row(l, &l->main, lower_place(l, &in->operands[1], (enum ptx_type)in->type),
                            bytes == 8, 0);
    for (uint32_t k = 0; k < v->element_count; k++) {
        if (v->elements[k].kind != PTX_OPERAND_REG)
            continue;
        struct result d = lower_result(l, &v->elements[k]);
        uint32_t from = at, word = k * part / 4, shift = k * part % 4 * 8;
        if (bytes == 8) {
            from = part == 4 ? d.row : lower_temp(1);
            lower_unary(l, &l->main, word ? VM_OP_high64_32 : VM_OP_trunc64_32, from, at);
        }
        if (part < 4) {
            struct insn *i = lower_emit(l, &l->main, VM_OP_shr_u32_vs);
            i->d = d.row;
            i->a = from;
            i->b = lower_constant(l, shift);
        }
    }
    return true;
}

/* A register of 128 bits is two rows of 64, the low half first. */
bool lower_mov_128(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *d = &in->operands[0], *a = &in->operands[1];
    for (unsigned half = 0; half < 2; half++) {
        struct place from;
        bool to_vector = d->kind == PTX_OPERAND_VEC;
        if (to_vector && (d->element_count != 2 || a->kind != PTX_OPERAND_REG))
            return false;
        if (a->kind == PTX_OPERAND_VEC && a->element_count == 2)
            from = lower_place(l, &a->elements[half], PTX_B64);
        else if (a->kind == PTX_OPERAND_REG && l->regs[lower_root(l, a->reg)].kind == REG_128)
            from = (struct place){.at = lower_place(l, a, PTX_B128).at + half * VM_ROW64};
        else
            return false;
        uint32_t to;
        if (!to_vector)
            to = lower_result(l, d).row + half * VM_ROW64;
        else if (d->elements[half].kind == PTX_OPERAND_REG)
            to = lower_result(l, &d->elements[half]).row;
        else
            continue;
        lower_unary(l, &l->main, from.slot ? VM_OP_spread_64 : VM_OP_mov_64, to, from.at);
    }
    return true;
}

bool lower_mov(struct lower *l, const struct ptx_instr *in)
{
    if (in->type == PTX_B128)
        return lower_mov_128(l, in);
    const struct ptx_operand *d = &in->operands[0], *a = &in->operands[1];
    if (d->kind == PTX_OPERAND_VEC)
        return lower_unpack(l, in);
    if (d->kind != PTX_OPERAND_REG)
        return d->kind == PTX_OPERAND_SINK;
    const struct reg_info *to = &l->regs[d->reg];
    if (a->kind == PTX_OPERAND_VEC)
        return lower_pack(l, in);
    if (to->kind == REG_PRED) {
        struct stream *s = lower_stream(l, (enum vm_level)l->regs[lower_root(l, d->reg)].level);
        bool known = a->kind == PTX_OPERAND_IMM;
        struct insn *i = lower_emit(l, s, known ? VM_OP_pred_set : VM_OP_pred_mov);
        i->d = lower_pred(l, d->reg);
        if (known)
            i->x = a->imm ? VM_FULL : 0;
        else
            i->a = lower_pred(l, a->reg);
        return true;
    }
    if (to->kind == REG_128)
        return false;
    if (a->kind == PTX_OPERAND_REG && l->regs[lower_root(l, a->reg)].kind != to->kind)
        return false;
    struct place p = lower_place(l, a, (enum ptx_type)in->type);
    struct result r = lower_result(l, d);
    enum vm_op op = r.wide ? (p.slot ? VM_OP_spread_64 : VM_OP_mov_64)
                           : (p.slot ? VM_OP_spread_32 : VM_OP_mov_32);
    lower_unary(l, r.stream, op, r.row, p.at);
    lower_finish(l, &r);
    return true;
}

bool lower_cvta(struct lower *l, const struct ptx_instr *in)
{
    uint64_t offset = in->space == PTX_SHARED || in->space == PTX_SHARED_CLUSTER ? VM_SHARED_OFFSET
                      : in->space == PTX_LOCAL                                   ? VM_LOCAL_OFFSET
                                                                                 : 0;
    if (!offset)
        return lower_mov(l, in);
    offset += l->module->vm->window;
    struct place p = lower_place(l, &in->operands[1], PTX_U64);
    struct result d = lower_result(l, &in->operands[0]);
    uint32_t at = lower_row(l, d.stream, p, true, 0);
    struct insn *i = lower_emit(l, d.stream, VM_OP_add_64_vs);
    i->d = d.row;
    i->a = at;
    i->b = lower_constant(l, in->flags & PTX_F_TO ? 0 - offset : offset);
    lower_finish(l, &d);
    return true;
}

bool lower_selp(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *c = &in->operands[3];
    bool wide = ptx_type_bytes((enum ptx_type)in->type) == 8;
    if (c->kind != PTX_OPERAND_REG)
        return false;
    struct result d = lower_result(l, &in->operands[0]);
    struct place a = lower_place(l, &in->operands[1], (enum ptx_type)in->type);
    struct place b = lower_place(l, &in->operands[2], (enum ptx_type)in->type);
    bool flip = c->negated;
    enum vm_op op;
    if (wide) {
        a.at = lower_row(l, d.stream, a, true, 0);
        b.at = lower_row(l, d.stream, b, true, 1);
        op = VM_OP_selp_64;
    } else {
        if (a.slot && !b.slot) {
            struct place swap = a;
            a = b;
            b = swap;
            flip = !flip;
        }
        op = a.slot ? VM_OP_selp_32_ss : b.slot ? VM_OP_selp_32_vs : VM_OP_selp_32;
    }
    struct insn *i = lower_emit(l, d.stream, op);
    i->d = d.row;
    i->a = a.at;
    i->b = b.at;
    i->c = lower_pred(l, c->reg);
    i->x = flip ? VM_FULL : 0;
    lower_finish(l, &d);
    return true;
}

bool lower_pred_logic(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *d = &in->operands[0], *a = &in->operands[1], *b = &in->operands[2];
    if (d->kind != PTX_OPERAND_REG || a->kind != PTX_OPERAND_REG)
        return false;
    struct stream *s = lower_stream(l, (enum vm_level)l->regs[lower_root(l, d->reg)].level);
    if (in->op == PTX_OP_not) {
        struct insn *i = lower_emit(l, s, VM_OP_pred_not);
        i->d = lower_pred(l, d->reg);
        i->a = lower_pred(l, a->reg);
        return true;
    }
    uint32_t other = lower_pred_temp(l, 0);
    if (b->kind == PTX_OPERAND_IMM) { /* nvcc writes "not" as xor.pred with -1 */
        struct insn *i = lower_emit(l, s, VM_OP_pred_set);
        i->d = other;
        i->x = b->imm ? VM_FULL : 0;
    } else if (b->kind == PTX_OPERAND_REG) {
        other = lower_pred(l, b->reg);
    } else {
        return false;
    }
    struct insn *i = lower_emit(l, s,
                                in->op == PTX_OP_and  ? VM_OP_pred_and
                                : in->op == PTX_OP_or ? VM_OP_pred_or
                                                      : VM_OP_pred_xor);
    i->d = lower_pred(l, d->reg);
    i->a = lower_pred(l, a->reg);
    i->b = other;
    i->y = a->negated ? VM_FULL : 0;
    i->x = b->negated ? VM_FULL : 0;
    return true;
}

/* With a predicate: p = (d != 0) op q. */
bool lower_lop3(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *o = in->operands;
    bool tests = o[0].reg2 >= 0;
    if (in->operand_count < 5 || o[4].kind != PTX_OPERAND_IMM ||
        (tests && (in->operand_count < 6 || o[5].kind != PTX_OPERAND_REG)))
        return false;
    struct result d = lower_result(l, &o[0]);
    uint32_t rows[3];
    for (unsigned k = 0; k < 3; k++)
        rows[k] = lower_row(l, d.stream, lower_place(l, &o[1 + k], PTX_B32), false, k);
    struct insn *i = lower_emit(l, d.stream, VM_OP_lop3);
    i->d = d.row;
    i->a = rows[0];
    i->b = rows[1];
    i->c = rows[2];
    i->x = (uint32_t)o[4].imm & 0xff;
    if (tests) {
        i = lower_emit(l, d.stream, VM_OP_row_pred);
        i->d = lower_pred_temp(l, 0);
        i->a = d.row;
        i = lower_emit(l, d.stream, lower_bool_handler((enum ptx_bool)in->boolop));
        i->d = lower_pred(l, o[0].reg2);
        i->a = lower_pred_temp(l, 0);
        i->b = lower_pred(l, o[5].reg);
        i->x = o[5].negated ? VM_FULL : 0;
    }
    lower_finish(l, &d);
    return true;
}

bool lower_isspacep(struct lower *l, const struct ptx_instr *in)
{
    uint64_t window = l->module->vm->window, low, bytes;
    switch ((int)in->space) {
    case PTX_SHARED:
    case PTX_SHARED_CLUSTER:
        low = window + VM_SHARED_OFFSET, bytes = VM_SHARED_BYTES;
        break;
    case PTX_LOCAL:
        low = window + VM_LOCAL_OFFSET, bytes = VM_LOCAL_BYTES;
        break;
    default: /* global: neither of the two */
        low = window + VM_SHARED_OFFSET, bytes = VM_SHARED_BYTES + VM_LOCAL_BYTES;
        break;
    }
    struct place a = lower_place(l, &in->operands[1], PTX_U64);
    uint32_t at = lower_row(l, &l->main, a, true, 0);
    struct insn *i = lower_emit(l, &l->main, VM_OP_add_64_vs);
    i->d = lower_temp(1);
    i->a = at;
    i->b = lower_constant(l, 0 - low);
    bool inside =
        in->space == PTX_SHARED || in->space == PTX_SHARED_CLUSTER || in->space == PTX_LOCAL;
    i = lower_emit(l, &l->main, inside ? VM_OP_lt_u64_vs : VM_OP_ge_u64_vs);
    i->d = lower_pred(l, in->operands[0].reg);
    i->a = lower_temp(1);
    i->b = lower_constant(l, bytes);
    return true;
}

/* A cluster is one block: its own address for rank 0; any other rank gives an address that belongs
 * to nobody. */
bool lower_mapa(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *o = in->operands;
    if (o[0].kind != PTX_OPERAND_REG)
        return false;
    struct result d = lower_result(l, &o[0]);
    enum ptx_type type = d.wide ? PTX_U64 : PTX_U32;
    uint32_t own = lower_row(l, &l->main, lower_place(l, &o[1], type), d.wide, 0);
    uint32_t rank = lower_row(l, &l->main, lower_place(l, &o[2], PTX_U32), false, 1);
    struct insn *i = lower_emit(l, &l->main, d.wide ? VM_OP_spread_64 : VM_OP_spread_32);
    i->d = lower_temp(2);
    i->a = lower_constant(l, d.wide ? 0 : 0xfffffff0u);
    i = lower_emit(l, &l->main, VM_OP_eq_32_vs);
    i->d = lower_pred_temp(l, 0);
    i->a = rank;
    i->b = lower_constant(l, 0);
    i = lower_emit(l, &l->main, d.wide ? VM_OP_selp_64 : VM_OP_selp_32);
    i->d = d.row;
    i->a = own;
    i->b = lower_temp(2);
    i->c = lower_pred_temp(l, 0);
    return true;
}

bool lower_getctarank(struct lower *l, const struct ptx_instr *in)
{
    if (in->operands[0].kind != PTX_OPERAND_REG)
        return false;
    struct result d = lower_result(l, &in->operands[0]);
    lower_unary(l, &l->main, VM_OP_spread_32, d.row, lower_constant(l, 0));
    return true;
}
