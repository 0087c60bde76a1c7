/* setp and set: comparisons into predicates, combined with another predicate. Loops exist for the
 * ordered comparisons; the forms that hold for NaNs are their complements. */
#include "cpu/vm/lower.h"

/* Base handler of a comparison of integers; `gt` and `ge` exist, so nothing is swapped. */
static enum vm_op integer_compare(enum ptx_cmp cmp, bool wide, bool is_signed)
{
    switch ((int)cmp) {
    case PTX_EQ:
        return wide ? VM_OP_eq_64 : VM_OP_eq_32;
    case PTX_NE:
        return wide ? VM_OP_ne_64 : VM_OP_ne_32;
    case PTX_LT:
        return wide ? (is_signed ? VM_OP_lt_s64 : VM_OP_lt_u64)
                    : (is_signed ? VM_OP_lt_s32 : VM_OP_lt_u32);
    case PTX_LE:
        return wide ? (is_signed ? VM_OP_le_s64 : VM_OP_le_u64)
                    : (is_signed ? VM_OP_le_s32 : VM_OP_le_u32);
    case PTX_GT:
        return wide ? (is_signed ? VM_OP_gt_s64 : VM_OP_gt_u64)
                    : (is_signed ? VM_OP_gt_s32 : VM_OP_gt_u32);
    default:
        return wide ? (is_signed ? VM_OP_ge_s64 : VM_OP_ge_u64)
                    : (is_signed ? VM_OP_ge_s32 : VM_OP_ge_u32);
    }
}

static enum ptx_cmp mirrored(enum ptx_cmp cmp)
{
    switch ((int)cmp) {
    case PTX_LT:
        return PTX_GT;
    case PTX_LE:
        return PTX_GE;
    case PTX_GT:
        return PTX_LT;
    case PTX_GE:
        return PTX_LE;
    default:
        return cmp;
    }
}

static void emit_compare(struct lower *l, struct stream *s, enum vm_op op, uint32_t d,
                         struct place a, struct place b)
{
    struct insn *i = lower_emit(l, s, (enum vm_op)(op + (b.slot ? 1 : 0)));
    i->d = d;
    i->a = a.at;
    i->b = b.at;
}

/* Puts a row first. */
static void order_operands(struct lower *l, struct stream *s, struct place *a, struct place *b,
                           bool wide, enum ptx_cmp *cmp)
{
    if (a->slot && !b->slot) {
        struct place swap = *a;
        *a = *b;
        *b = swap;
        *cmp = mirrored(*cmp);
    } else if (a->slot) {
        *a = (struct place){.at = lower_row(l, s, *a, wide, 0)};
    }
}

/* cmp(a, b) of floats into predicate d. The unordered forms are complements of ordered ones. */
static void compare_floats(struct lower *l, struct stream *s, enum ptx_cmp cmp, bool wide,
                           uint32_t d, struct place a, struct place b)
{
    enum ptx_cmp base = cmp;
    bool complement = false;
    switch ((int)cmp) {
    case PTX_NEU:
        base = PTX_EQ, complement = true;
        break;
    case PTX_LTU:
        base = PTX_GE, complement = true;
        break;
    case PTX_LEU:
        base = PTX_GT, complement = true;
        break;
    case PTX_GTU:
        base = PTX_LE, complement = true;
        break;
    case PTX_GEU:
        base = PTX_LT, complement = true;
        break;
    default:
        break;
    }
    enum vm_op eq = wide ? VM_OP_eq_f64 : VM_OP_eq_f32;
    if (cmp == PTX_NE || cmp == PTX_EQU || cmp == PTX_NUM || cmp == PTX_NAN) {
        /* ordered = (a == a) and (b == b) */
        uint32_t ordered = lower_pred_temp(l, 1), equal = lower_pred_temp(l, 2);
        struct place ra = {.at = lower_row(l, s, a, wide, 0)};
        struct place rb = {.at = lower_row(l, s, b, wide, 1)};
        emit_compare(l, s, eq, ordered, ra, ra);
        emit_compare(l, s, eq, equal, rb, rb);
        struct insn *i = lower_emit(l, s, VM_OP_pred_and);
        i->d = i->a = ordered;
        i->b = equal;
        emit_compare(l, s, eq, equal, ra, rb);
        bool negative = cmp == PTX_EQU || cmp == PTX_NAN;
        i = lower_emit(l, s, cmp == PTX_EQU ? VM_OP_pred_or : VM_OP_pred_and);
        i->d = d;
        i->a = ordered;
        i->y = negative ? VM_FULL : 0;
        i->b = cmp == PTX_NE || cmp == PTX_EQU ? equal : ordered;
        i->x = cmp == PTX_NE || cmp == PTX_NAN ? VM_FULL : 0;
        return;
    }
    order_operands(l, s, &a, &b, wide, &base);
    enum vm_op op = base == PTX_EQ   ? eq
                    : base == PTX_LT ? (wide ? VM_OP_lt_f64 : VM_OP_lt_f32)
                    : base == PTX_LE ? (wide ? VM_OP_le_f64 : VM_OP_le_f32)
                    : base == PTX_GT ? (wide ? VM_OP_gt_f64 : VM_OP_gt_f32)
                                     : (wide ? VM_OP_ge_f64 : VM_OP_ge_f32);
    emit_compare(l, s, op, d, a, b);
    if (complement) {
        struct insn *i = lower_emit(l, s, VM_OP_pred_not);
        i->d = i->a = d;
    }
}

/* The comparison of setp and set into predicate d. false: no such types. */
static bool compare(struct lower *l, const struct ptx_instr *in, struct stream *s, uint32_t d,
                    enum ptx_type type)
{
    const struct ptx_operand *x = &in->operands[1], *y = &in->operands[2];
    unsigned bytes = ptx_type_bytes(type);
    if (type == PTX_F32 || type == PTX_F64) {
        bool flush = in->flags & PTX_F_FTZ;
        if (flush)
            lower_fp_mode(l, s, 0, 1);
        compare_floats(l, s, (enum ptx_cmp)in->cmp, bytes == 8, d, lower_place(l, x, type),
                       lower_place(l, y, type));
        if (flush)
            lower_fp_mode(l, s, 0, 0);
        return true;
    }
    if (ptx_type_is_float(type) || bytes < 2)
        return false;
    enum ptx_cmp cmp = (enum ptx_cmp)in->cmp;
    struct place a = lower_place(l, x, type), b = lower_place(l, y, type);
    if (bytes == 2) {
        enum vm_op op = ptx_type_is_signed(type) ? VM_OP_sext16_32 : VM_OP_zext16_32;
        lower_unary(l, s, op, lower_temp(0), lower_row(l, s, a, false, 0));
        lower_unary(l, s, op, lower_temp(1), lower_row(l, s, b, false, 1));
        a = (struct place){.at = lower_temp(0)};
        b = (struct place){.at = lower_temp(1)};
    }
    order_operands(l, s, &a, &b, bytes == 8, &cmp);
    emit_compare(l, s, integer_compare(cmp, bytes == 8, ptx_type_is_signed(type)), d, a, b);
    return true;
}

enum vm_op lower_bool_handler(enum ptx_bool b)
{
    return b == PTX_BOOL_AND ? VM_OP_pred_and : b == PTX_BOOL_OR ? VM_OP_pred_or : VM_OP_pred_xor;
}

/* setp of two halves: p for the low one, q for the high one. */
static bool lower_setp_halves(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *d = &in->operands[0];
    bool combined = in->boolop != PTX_BOOL_NONE && in->operand_count > 3;
    uint32_t rows[3] = {0};
    for (unsigned k = 0; k < 2; k++)
        rows[k] = lower_row(l, &l->main, lower_place(l, &in->operands[1 + k], PTX_B32), false, k);
    if (combined) {
        struct insn *i = lower_emit(l, &l->main, VM_OP_pred_row);
        i->d = rows[2] = lower_temp(2);
        i->a = lower_pred(l, in->operands[3].reg);
        i->x = in->operands[3].negated ? VM_FULL : 0;
        i->y = 1;
    }
    for (unsigned half = 0; half < 2; half++) {
        int32_t reg = half ? d->reg2 : d->reg;
        for (unsigned k = 0; half && k < 2; k++) {
            struct insn *i = lower_emit(l, &l->main, VM_OP_shr_u32_vs);
            i->d = lower_temp(k);
            i->a = rows[k];
            i->b = lower_constant(l, 16);
            rows[k] = i->d;
        }
        if (reg < 0)
            continue;
        struct scalar_op *op = arena_alloc(&l->code->arena, sizeof *op);
        op->function = vm_scalar_find(in);
        op->in = in;
        op->operands = combined ? 3 : 2;
        op->to_predicate = true;
        struct insn *i = lower_emit(l, &l->main, VM_OP_scalar);
        i->d = lower_pred(l, reg);
        i->a = rows[0];
        i->b = rows[1];
        i->c = rows[2];
        i->imm = (uint64_t)(uintptr_t)op;
    }
    return true;
}

bool lower_setp(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *d = &in->operands[0];
    if (d->kind != PTX_OPERAND_REG)
        return false;
    struct stream *s = lower_stream(l, (enum vm_level)l->regs[lower_root(l, d->reg)].level);
    bool combined = in->boolop != PTX_BOOL_NONE && in->operand_count > 3;
    uint32_t p = lower_pred(l, d->reg);
    uint32_t t = combined || d->reg2 >= 0 ? lower_pred_temp(l, 0) : p;
    if (in->type == PTX_F16X2 || in->type == PTX_BF16X2)
        return lower_setp_halves(l, in);
    if (!compare(l, in, s, t, (enum ptx_type)in->type))
        return lower_scalar(l, in);
    if (t == p)
        return true;
    uint32_t c = 0;
    if (combined) { /* p may be c itself */
        struct insn *i = lower_emit(l, s, VM_OP_pred_mov);
        i->d = c = lower_pred_temp(l, 3);
        i->a = lower_pred(l, in->operands[3].reg);
    }
    for (unsigned side = 0; side < 2; side++) {
        int32_t reg = side ? d->reg2 : d->reg;
        if (reg < 0)
            continue;
        struct insn *i = lower_emit(l, s,
                                    combined ? lower_bool_handler((enum ptx_bool)in->boolop)
                                    : side   ? VM_OP_pred_not
                                             : VM_OP_pred_mov);
        i->d = lower_pred(l, reg);
        i->a = t;
        if (combined) {
            i->y = side ? VM_FULL : 0;
            i->b = c;
            i->x = in->operands[3].negated ? VM_FULL : 0;
        }
    }
    return true;
}

bool lower_set(struct lower *l, const struct ptx_instr *in)
{
    if (in->boolop != PTX_BOOL_NONE || in->operands[0].kind != PTX_OPERAND_REG ||
        lower_is_wide(l, in->operands[0].reg))
        return false;
    struct result d = lower_result(l, &in->operands[0]);
    uint32_t t = lower_pred_temp(l, 0);
    if (!compare(l, in, d.stream, t, (enum ptx_type)in->src_type))
        return lower_scalar(l, in);
    struct insn *i = lower_emit(l, d.stream, VM_OP_pred_row);
    i->d = d.row;
    i->a = t;
    i->y = in->type == PTX_F32 ? 0x3f800000u : VM_FULL;
    return true;
}
