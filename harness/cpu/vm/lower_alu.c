/* Arithmetic, logic, conversions, comparisons and moves. RULES says which handler does what; what
 * it does not list goes to scalar.c, lane by lane. */
#include "cpu/vm/lower.h"

#define T(type)   (1u << PTX_##type)
#define BITS16    (T(B16) | T(U16) | T(S16))
#define BITS32    (T(B32) | T(U32) | T(S32))
#define BITS64    (T(B64) | T(U64) | T(S64))
#define UNSIGNED4 (T(U32) | T(B32))
#define UNSIGNED8 (T(U64) | T(B64))

struct rule {
    uint16_t op; /* enum ptx_op */
    uint8_t sub; /* enum ptx_sub, or 0 */
    uint32_t types;
    uint16_t handler; /* enum vm_op, first form */
    uint8_t operands;
    bool commutes;
    bool wide_result, wide[3]; /* rows of 8 bytes */
};

/* 16-bit values live in 32-bit rows whose upper half is free: what depends on low bits only is done
 * as 32-bit arithmetic. */
static const struct rule RULES[] = {
    {PTX_OP_add, 0, BITS32 | BITS16, VM_OP_add_32, 2, true, false, {0}},
    {PTX_OP_sub, 0, BITS32 | BITS16, VM_OP_sub_32, 2, false, false, {0}},
    {PTX_OP_mul, PTX_LO, BITS32 | BITS16, VM_OP_mul_32, 2, true, false, {0}},
    {PTX_OP_mul, PTX_HI, T(U32), VM_OP_mulhi_u32, 2, true, false, {0}},
    {PTX_OP_mul, PTX_HI, T(S32), VM_OP_mulhi_s32, 2, true, false, {0}},
    {PTX_OP_mul, PTX_WIDE, T(U32), VM_OP_mulw_u32, 2, true, true, {0}},
    {PTX_OP_mul, PTX_WIDE, T(S32), VM_OP_mulw_s32, 2, true, true, {0}},
    {PTX_OP_and, 0, BITS32 | BITS16, VM_OP_and_32, 2, true, false, {0}},
    {PTX_OP_or, 0, BITS32 | BITS16, VM_OP_or_32, 2, true, false, {0}},
    {PTX_OP_xor, 0, BITS32 | BITS16, VM_OP_xor_32, 2, true, false, {0}},
    {PTX_OP_shl, 0, BITS32 | BITS16, VM_OP_shl_32, 2, false, false, {0}},
    {PTX_OP_shr, 0, UNSIGNED4, VM_OP_shr_u32, 2, false, false, {0}},
    {PTX_OP_shr, 0, T(S32), VM_OP_shr_s32, 2, false, false, {0}},
    {PTX_OP_div, 0, T(U32), VM_OP_div_u32, 2, false, false, {0}},
    {PTX_OP_div, 0, T(S32), VM_OP_div_s32, 2, false, false, {0}},
    {PTX_OP_rem, 0, T(U32), VM_OP_rem_u32, 2, false, false, {0}},
    {PTX_OP_rem, 0, T(S32), VM_OP_rem_s32, 2, false, false, {0}},
    {PTX_OP_min, 0, T(U32), VM_OP_min_u32, 2, true, false, {0}},
    {PTX_OP_max, 0, T(U32), VM_OP_max_u32, 2, true, false, {0}},
    {PTX_OP_min, 0, T(S32), VM_OP_min_s32, 2, true, false, {0}},
    {PTX_OP_max, 0, T(S32), VM_OP_max_s32, 2, true, false, {0}},
    {PTX_OP_add, 0, BITS64, VM_OP_add_64, 2, true, true, {1, 1}},
    {PTX_OP_sub, 0, BITS64, VM_OP_sub_64, 2, false, true, {1, 1}},
    {PTX_OP_mul, PTX_LO, BITS64, VM_OP_mul_64, 2, true, true, {1, 1}},
    {PTX_OP_and, 0, BITS64, VM_OP_and_64, 2, true, true, {1, 1}},
    {PTX_OP_or, 0, BITS64, VM_OP_or_64, 2, true, true, {1, 1}},
    {PTX_OP_xor, 0, BITS64, VM_OP_xor_64, 2, true, true, {1, 1}},
    {PTX_OP_shl, 0, BITS64, VM_OP_shl_64, 2, false, true, {1, 0}},
    {PTX_OP_shr, 0, UNSIGNED8, VM_OP_shr_u64, 2, false, true, {1, 0}},
    {PTX_OP_shr, 0, T(S64), VM_OP_shr_s64, 2, false, true, {1, 0}},
    {PTX_OP_min, 0, T(U64), VM_OP_min_u64, 2, true, true, {1, 1}},
    {PTX_OP_max, 0, T(U64), VM_OP_max_u64, 2, true, true, {1, 1}},
    {PTX_OP_min, 0, T(S64), VM_OP_min_s64, 2, true, true, {1, 1}},
    {PTX_OP_max, 0, T(S64), VM_OP_max_s64, 2, true, true, {1, 1}},
    {PTX_OP_add, 0, T(F32), VM_OP_add_f32, 2, true, false, {0}},
    {PTX_OP_sub, 0, T(F32), VM_OP_sub_f32, 2, false, false, {0}},
    {PTX_OP_mul, 0, T(F32), VM_OP_mul_f32, 2, true, false, {0}},
    {PTX_OP_div, 0, T(F32), VM_OP_div_f32, 2, false, false, {0}},
    {PTX_OP_min, 0, T(F32), VM_OP_min_f32, 2, true, false, {0}},
    {PTX_OP_max, 0, T(F32), VM_OP_max_f32, 2, true, false, {0}},
    {PTX_OP_add, 0, T(F64), VM_OP_add_f64, 2, true, true, {1, 1}},
    {PTX_OP_sub, 0, T(F64), VM_OP_sub_f64, 2, false, true, {1, 1}},
    {PTX_OP_mul, 0, T(F64), VM_OP_mul_f64, 2, true, true, {1, 1}},
    {PTX_OP_div, 0, T(F64), VM_OP_div_f64, 2, false, true, {1, 1}},
    {PTX_OP_min, 0, T(F64), VM_OP_min_f64, 2, true, true, {1, 1}},
    {PTX_OP_max, 0, T(F64), VM_OP_max_f64, 2, true, true, {1, 1}},
    {PTX_OP_not, 0, BITS32 | BITS16, VM_OP_not_32, 1, false, false, {0}},
    {PTX_OP_not, 0, BITS64, VM_OP_not_64, 1, false, true, {1}},
    {PTX_OP_neg, 0, T(S32) | T(S16), VM_OP_neg_32, 1, false, false, {0}},
    {PTX_OP_neg, 0, T(S64), VM_OP_neg_64, 1, false, true, {1}},
    {PTX_OP_abs, 0, T(S32), VM_OP_abs_32, 1, false, false, {0}},
    {PTX_OP_abs, 0, T(S64), VM_OP_abs_64, 1, false, true, {1}},
    {PTX_OP_popc, 0, BITS32, VM_OP_popc_32, 1, false, false, {0}},
    {PTX_OP_popc, 0, BITS64, VM_OP_popc_64, 1, false, false, {1}},
    {PTX_OP_clz, 0, BITS32, VM_OP_clz_32, 1, false, false, {0}},
    {PTX_OP_clz, 0, BITS64, VM_OP_clz_64, 1, false, false, {1}},
    {PTX_OP_brev, 0, BITS32, VM_OP_brev_32, 1, false, false, {0}},
    {PTX_OP_bfe, 0, T(U32), VM_OP_bfe_u32, 3, false, false, {0}},
    {PTX_OP_neg, 0, T(F32), VM_OP_neg_f32, 1, false, false, {0}},
    {PTX_OP_abs, 0, T(F32), VM_OP_abs_f32, 1, false, false, {0}},
    {PTX_OP_neg, 0, T(F64), VM_OP_neg_f64, 1, false, true, {1}},
    {PTX_OP_abs, 0, T(F64), VM_OP_abs_f64, 1, false, true, {1}},
    {PTX_OP_sqrt, 0, T(F32), VM_OP_sqrt_f32, 1, false, false, {0}},
    {PTX_OP_sqrt, 0, T(F64), VM_OP_sqrt_f64, 1, false, true, {1}},
    {PTX_OP_rcp, 0, T(F32), VM_OP_rcp_f32, 1, false, false, {0}},
    {PTX_OP_rcp, 0, T(F64), VM_OP_rcp_f64, 1, false, true, {1}},
    {PTX_OP_rsqrt, 0, T(F32), VM_OP_rsqrt_f32, 1, false, false, {0}},
    {PTX_OP_mad, PTX_LO, BITS32 | BITS16, VM_OP_mad_32, 3, true, false, {0}},
    {PTX_OP_mad, PTX_LO, BITS64, VM_OP_mad_64, 3, true, true, {1, 1, 1}},
    {PTX_OP_mad, PTX_WIDE, T(U32), VM_OP_madw_u32, 3, true, true, {0, 0, 1}},
    {PTX_OP_mad, PTX_WIDE, T(S32), VM_OP_madw_s32, 3, true, true, {0, 0, 1}},
    {PTX_OP_fma, 0, T(F32), VM_OP_fma_f32, 3, true, false, {0}},
    {PTX_OP_fma, 0, T(F64), VM_OP_fma_f64, 3, true, true, {1, 1, 1}},
    {PTX_OP_mad, 0, T(F32), VM_OP_fma_f32, 3, true, false, {0}},
    {PTX_OP_mad, 0, T(F64), VM_OP_fma_f64, 3, true, true, {1, 1, 1}},
};

bool lower_is_pure(const struct ptx_instr *in)
{
    if (in->flags & PTX_F_CC)
        return false;
    switch ((int)in->op) {
    case PTX_OP_abs:
    case PTX_OP_add:
    case PTX_OP_and:
    case PTX_OP_bfe:
    case PTX_OP_bfi:
    case PTX_OP_bfind:
    case PTX_OP_bmsk:
    case PTX_OP_brev:
    case PTX_OP_clz:
    case PTX_OP_cnot:
    case PTX_OP_cvt:
    case PTX_OP_cvta:
    case PTX_OP_div:
    case PTX_OP_fma:
    case PTX_OP_lop3:
    case PTX_OP_mad:
    case PTX_OP_max:
    case PTX_OP_min:
    case PTX_OP_mov:
    case PTX_OP_mul:
    case PTX_OP_mul24:
    case PTX_OP_neg:
    case PTX_OP_not:
    case PTX_OP_or:
    case PTX_OP_popc:
    case PTX_OP_prmt:
    case PTX_OP_rem:
    case PTX_OP_selp:
    case PTX_OP_setp:
    case PTX_OP_shf:
    case PTX_OP_shl:
    case PTX_OP_shr:
    case PTX_OP_sub:
    case PTX_OP_xor:
        return true;
    default:
        return false;
    }
}

/* ---- rules ---- */

static const struct rule *find_rule(const struct ptx_instr *in)
{
    for (size_t k = 0; k < sizeof RULES / sizeof *RULES; k++) {
        const struct rule *r = &RULES[k];
        if (r->op == in->op && (r->types >> in->type & 1) && (r->sub == 0 || r->sub == in->sub))
            return r;
    }
    return NULL;
}

/* Forms that the loops do not do. */
static bool plain_form(const struct ptx_instr *in)
{
    bool is_float = ptx_type_is_float((enum ptx_type)in->type);
    uint32_t odd = PTX_F_NAN | PTX_F_XORSIGN | PTX_F_RELU | PTX_F_CC;
    if (in->flags & odd)
        return false;
    if (!is_float)
        return !(in->flags & PTX_F_SAT);
    bool picks = in->op == PTX_OP_min || in->op == PTX_OP_max || in->op == PTX_OP_neg ||
                 in->op == PTX_OP_abs;
    return !(picks && (in->flags & PTX_F_FTZ));
}

static bool needs_mode(const struct ptx_instr *in)
{
    if (!ptx_type_is_float((enum ptx_type)in->type) &&
        !ptx_type_is_float((enum ptx_type)in->src_type))
        return false;
    return (in->flags & PTX_F_FTZ) || in->round == PTX_RZ || in->round == PTX_RM ||
           in->round == PTX_RP;
}

static void set_mode(struct lower *l, struct stream *s, uint32_t round, uint32_t flush)
{
    struct insn *i = lower_emit(l, s, VM_OP_fp_mode);
    i->x = round;
    i->y = flush;
}

static void emit_rule(struct lower *l, const struct rule *r, const struct result *d,
                      struct place *p)
{
    struct stream *s = d->stream;
    unsigned form = 0;
    if (r->operands == 1) {
        p[0].at = lower_row(l, s, p[0], r->wide[0], 0);
    } else {
        if (p[0].slot && !p[1].slot && r->commutes) {
            struct place swap = p[0];
            p[0] = p[1];
            p[1] = swap;
        }
        if (p[0].slot && (p[1].slot || r->operands == 3))
            p[0] = (struct place){.at = lower_row(l, s, p[0], r->wide[0], 0)};
        if (r->operands == 2)
            form = p[1].slot ? 1 : p[0].slot ? 2 : 0;
        else
            form = (p[1].slot ? 2u : 0u) + (p[2].slot ? 1u : 0u);
    }
    struct insn *i = lower_emit(l, s, (enum vm_op)(r->handler + form));
    i->d = d->row;
    i->a = p[0].at;
    i->b = r->operands > 1 ? p[1].at : 0;
    i->c = r->operands > 2 ? p[2].at : 0;
}

static void lower_rule(struct lower *l, const struct ptx_instr *in, const struct rule *r)
{
    struct place p[3] = {{0}};
    for (unsigned k = 0; k < r->operands; k++) {
        enum ptx_type type =
            r->wide[k] && r->operands == 3 && r->sub == PTX_WIDE ? PTX_U64 : in->type;
        bool amount = (r->op == PTX_OP_shl || r->op == PTX_OP_shr) && k == 1;
        p[k] = lower_place(l, &in->operands[1 + k], amount ? PTX_U32 : type);
    }
    struct result d = lower_result(l, &in->operands[0]);
    bool mode = needs_mode(in);
    if (mode)
        set_mode(l, d.stream, in->round, (in->flags & PTX_F_FTZ) != 0);
    emit_rule(l, r, &d, p);
    if (mode)
        set_mode(l, d.stream, 0, 0);
    if (in->flags & PTX_F_SAT) {
        struct insn *i =
            lower_emit(l, d.stream, in->type == PTX_F64 ? VM_OP_sat_f64 : VM_OP_sat_f32);
        i->d = i->a = d.row;
    }
    lower_finish(l, &d);
}

/* ---- one at a time ---- */

static bool lower_scalar(struct lower *l, const struct ptx_instr *in)
{
    bool carry = in->op == PTX_OP_addc || in->op == PTX_OP_subc || in->op == PTX_OP_madc ||
                 (in->flags & PTX_F_CC);
    vm_scalar *f = carry ? NULL : vm_scalar_find(in);
    unsigned sources = in->operand_count - 1u;
    if ((!f && !carry) || in->operand_count < 2 || sources > 4 ||
        in->operands[0].kind != PTX_OPERAND_REG || in->operands[0].reg2 >= 0)
        return false;
    struct scalar_op *op = arena_alloc(&l->code->arena, sizeof *op);
    op->function = f;
    op->in = in;
    op->flag = l->flag;
    op->operands = (uint8_t)sources;
    const struct reg_info *to = &l->regs[lower_root(l, in->operands[0].reg)];
    struct result d = lower_result(l, &in->operands[0]);
    uint32_t rows[4] = {0};
    for (unsigned k = 0; k < op->operands; k++) {
        const struct ptx_operand *o = &in->operands[1 + k];
        if (o->kind == PTX_OPERAND_VEC)
            return false;
        if (o->kind == PTX_OPERAND_REG && l->regs[lower_root(l, o->reg)].kind == REG_PRED) {
            struct insn *i = lower_emit(l, d.stream, VM_OP_pred_row);
            i->d = rows[k] = lower_temp(k);
            i->a = lower_pred(l, o->reg);
            i->x = o->negated ? VM_FULL : 0;
            i->y = 1;
            continue;
        }
        struct place p = lower_place(l, o, (enum ptx_type)in->type);
        op->wide[1 + k] = p.slot || (o->kind == PTX_OPERAND_REG && lower_is_wide(l, o->reg));
        rows[k] = lower_row(l, d.stream, p, true, k);
    }
    op->wide[0] = d.wide;
    op->to_predicate = to->kind == REG_PRED;
    op->fourth = rows[3];
    struct insn *i = lower_emit(l, d.stream, carry ? VM_OP_carry : VM_OP_scalar);
    i->d = op->to_predicate ? to->place.at : d.row;
    i->a = rows[0];
    i->b = rows[1];
    i->c = rows[2];
    i->imm = (uint64_t)(uintptr_t)op;
    lower_finish(l, &d);
    return true;
}

static void emit_unary(struct lower *l, struct stream *s, enum vm_op op, uint32_t d, uint32_t a)
{
    struct insn *i = lower_emit(l, s, op);
    i->d = d;
    i->a = a;
}

/* Integer to integer, without saturation. */
static void convert_integer(struct lower *l, const struct ptx_instr *in)
{
    unsigned to = ptx_type_bytes((enum ptx_type)in->type);
    unsigned from = ptx_type_bytes((enum ptx_type)in->src_type);
    unsigned kept = to < from ? to : from;
    bool extends = ptx_type_is_signed((enum ptx_type)(to <= from ? in->type : in->src_type));
    const struct ptx_operand *o = &in->operands[1];
    struct result d = lower_result(l, &in->operands[0]);
    struct place p = lower_place(l, o, (enum ptx_type)in->src_type);
    bool wide = p.slot ? from == 8 : o->kind == PTX_OPERAND_REG && lower_is_wide(l, o->reg);
    uint32_t at = lower_row(l, d.stream, p, wide, 0);
    if (kept == 8) {
        emit_unary(l, d.stream, VM_OP_mov_64, d.row, at);
    } else {
        uint32_t last = d.wide ? lower_temp(1) : d.row;
        if (wide) {
            uint32_t narrow = kept < 4 || d.wide ? lower_temp(0) : d.row;
            emit_unary(l, d.stream, VM_OP_trunc64_32, narrow, at);
            at = narrow;
        }
        if (kept < 4) {
            enum vm_op op = kept == 1 ? (extends ? VM_OP_sext8_32 : VM_OP_zext8_32)
                                      : (extends ? VM_OP_sext16_32 : VM_OP_zext16_32);
            emit_unary(l, d.stream, op, last, at);
            at = last;
        }
        if (d.wide)
            emit_unary(l, d.stream, extends ? VM_OP_sext32_64 : VM_OP_zext32_64, d.row, at);
        else if (at != d.row)
            emit_unary(l, d.stream, VM_OP_mov_32, d.row, at);
    }
    lower_finish(l, &d);
}

struct conversion {
    uint8_t to, from;
    uint16_t handler;
    bool wide_from;
};
static const struct conversion CONVERSIONS[] = {
    {PTX_F32, PTX_S32, VM_OP_f32_from_s32, false}, {PTX_F32, PTX_U32, VM_OP_f32_from_u32, false},
    {PTX_F64, PTX_S32, VM_OP_f64_from_s32, false}, {PTX_F64, PTX_U32, VM_OP_f64_from_u32, false},
    {PTX_F64, PTX_F32, VM_OP_f64_from_f32, false}, {PTX_F32, PTX_F64, VM_OP_f32_from_f64, true},
    {PTX_F32, PTX_S64, VM_OP_f32_from_s64, true},  {PTX_F64, PTX_S64, VM_OP_f64_from_s64, true},
    {PTX_F64, PTX_U64, VM_OP_f64_from_u64, true},  {PTX_S32, PTX_F32, VM_OP_s32_from_f32, false},
    {PTX_U32, PTX_F32, VM_OP_u32_from_f32, false},
};

static bool lower_convert(struct lower *l, const struct ptx_instr *in)
{
    bool is_float = ptx_type_is_float((enum ptx_type)in->type) ||
                    ptx_type_is_float((enum ptx_type)in->src_type);
    if (in->operand_count != 2 || in->operands[0].kind != PTX_OPERAND_REG)
        return lower_scalar(l, in);
    if (!is_float && !(in->flags & PTX_F_SAT)) {
        convert_integer(l, in);
        return true;
    }
    for (size_t k = 0; k < sizeof CONVERSIONS / sizeof *CONVERSIONS; k++) {
        const struct conversion *c = &CONVERSIONS[k];
        if (c->to != in->type || c->from != in->src_type || (in->flags & (PTX_F_SAT | PTX_F_FTZ)) ||
            !(in->round == PTX_ROUND_NONE || in->round == PTX_RN ||
              (in->round == PTX_RZI && !ptx_type_is_float((enum ptx_type)c->to))) ||
            (in->round == PTX_ROUND_NONE && !ptx_type_is_float((enum ptx_type)c->to)))
            continue;
        struct result d = lower_result(l, &in->operands[0]);
        struct place p = lower_place(l, &in->operands[1], (enum ptx_type)in->src_type);
        emit_unary(l, d.stream, (enum vm_op)c->handler, d.row,
                   lower_row(l, d.stream, p, c->wide_from, 0));
        lower_finish(l, &d);
        return true;
    }
    return lower_scalar(l, in);
}

/* ---- comparisons ---- */

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
            set_mode(l, s, 0, 1);
        compare_floats(l, s, (enum ptx_cmp)in->cmp, bytes == 8, d, lower_place(l, x, type),
                       lower_place(l, y, type));
        if (flush)
            set_mode(l, s, 0, 0);
        return true;
    }
    if (ptx_type_is_float(type) || bytes < 2)
        return false;
    enum ptx_cmp cmp = (enum ptx_cmp)in->cmp;
    struct place a = lower_place(l, x, type), b = lower_place(l, y, type);
    if (bytes == 2) {
        enum vm_op op = ptx_type_is_signed(type) ? VM_OP_sext16_32 : VM_OP_zext16_32;
        emit_unary(l, s, op, lower_temp(0), lower_row(l, s, a, false, 0));
        emit_unary(l, s, op, lower_temp(1), lower_row(l, s, b, false, 1));
        a = (struct place){.at = lower_temp(0)};
        b = (struct place){.at = lower_temp(1)};
    }
    order_operands(l, s, &a, &b, bytes == 8, &cmp);
    emit_compare(l, s, integer_compare(cmp, bytes == 8, ptx_type_is_signed(type)), d, a, b);
    return true;
}

static enum vm_op bool_handler(enum ptx_bool b)
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

static bool lower_setp(struct lower *l, const struct ptx_instr *in)
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
                                    combined ? bool_handler((enum ptx_bool)in->boolop)
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

static bool lower_set(struct lower *l, const struct ptx_instr *in)
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

/* ---- moves ---- */

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
            emit_unary(l, d.stream, part == 1 ? VM_OP_zext8_32 : VM_OP_zext16_32, to, at);
            if (!k)
                continue;
            struct insn *i = lower_emit(l, d.stream, VM_OP_shl_32_vs);
            i->d = i->a = to;
            i->b = lower_constant(l, 8 * part * k);
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
            emit_unary(l, &l->main, word ? VM_OP_high64_32 : VM_OP_trunc64_32, from, at);
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

static bool lower_mov(struct lower *l, const struct ptx_instr *in)
{
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
    emit_unary(l, r.stream, op, r.row, p.at);
    lower_finish(l, &r);
    return true;
}

static bool lower_cvta(struct lower *l, const struct ptx_instr *in)
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

static bool lower_selp(struct lower *l, const struct ptx_instr *in)
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

static bool lower_pred_logic(struct lower *l, const struct ptx_instr *in)
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
    if (b->kind != PTX_OPERAND_REG)
        return false;
    struct insn *i = lower_emit(l, s,
                                in->op == PTX_OP_and  ? VM_OP_pred_and
                                : in->op == PTX_OP_or ? VM_OP_pred_or
                                                      : VM_OP_pred_xor);
    i->d = lower_pred(l, d->reg);
    i->a = lower_pred(l, a->reg);
    i->b = lower_pred(l, b->reg);
    i->y = a->negated ? VM_FULL : 0;
    i->x = b->negated ? VM_FULL : 0;
    return true;
}

/* With a predicate: p = (d != 0) op q. */
static bool lower_lop3(struct lower *l, const struct ptx_instr *in)
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
        i = lower_emit(l, d.stream, bool_handler((enum ptx_bool)in->boolop));
        i->d = lower_pred(l, o[0].reg2);
        i->a = lower_pred_temp(l, 0);
        i->b = lower_pred(l, o[5].reg);
        i->x = o[5].negated ? VM_FULL : 0;
    }
    lower_finish(l, &d);
    return true;
}

static bool lower_isspacep(struct lower *l, const struct ptx_instr *in)
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

bool lower_alu(struct lower *l, const struct ptx_instr *in)
{
    if (in->operand_count == 0)
        return false;
    const struct ptx_operand *d = &in->operands[0];
    if (d->kind == PTX_OPERAND_REG && (l->regs[d->reg].copy_of >= 0 || l->regs[d->reg].direct))
        return true; /* stands for its operand */
    switch ((int)in->op) {
    case PTX_OP_mov:
        return lower_mov(l, in);
    case PTX_OP_cvta:
        return lower_cvta(l, in);
    case PTX_OP_cvt:
        return lower_convert(l, in);
    case PTX_OP_setp:
        return lower_setp(l, in);
    case PTX_OP_set:
        return lower_set(l, in);
    case PTX_OP_selp:
        return lower_selp(l, in);
    case PTX_OP_lop3:
        return lower_lop3(l, in);
    case PTX_OP_isspacep:
        return lower_isspacep(l, in);
    case PTX_OP_shf:
        if (in->flags & PTX_F_WRAP) {
            static const struct rule LEFT = {PTX_OP_shf, 0,     BITS32, VM_OP_shf_l_wrap,
                                             3,          false, false,  {0}};
            static const struct rule RIGHT = {PTX_OP_shf, 0,     BITS32, VM_OP_shf_r_wrap,
                                              3,          false, false,  {0}};
            lower_rule(l, in, in->sub == PTX_LEFT ? &LEFT : &RIGHT);
            return true;
        }
        break;
    case PTX_OP_bfind:
        if (in->type == PTX_U32) {
            static const struct rule FIND = {PTX_OP_bfind, 0,     T(U32), VM_OP_bfind_u32, 1,
                                             false,        false, {0}};
            static const struct rule SHIFT = {PTX_OP_bfind, 0,     T(U32), VM_OP_bfind_sh_u32, 1,
                                              false,        false, {0}};
            lower_rule(l, in, in->flags & PTX_F_SHIFTAMT ? &SHIFT : &FIND);
            return true;
        }
        break;
    case PTX_OP_and:
    case PTX_OP_or:
    case PTX_OP_xor:
    case PTX_OP_not:
        if (in->type == PTX_PRED)
            return lower_pred_logic(l, in);
        break;
    default:
        break;
    }
    if (d->kind != PTX_OPERAND_REG || l->regs[lower_root(l, d->reg)].kind == REG_128)
        return false;
    const struct rule *r = plain_form(in) ? find_rule(in) : NULL;
    if (r) {
        lower_rule(l, in, r);
        return true;
    }
    return lower_scalar(l, in);
}
