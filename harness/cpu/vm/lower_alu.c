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
    bool picks_three = (in->op == PTX_OP_min || in->op == PTX_OP_max) && in->operand_count > 3;
    if ((in->flags & odd) || picks_three)
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

void lower_fp_mode(struct lower *l, struct stream *s, uint32_t round, uint32_t flush)
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
        lower_fp_mode(l, d.stream, in->round, (in->flags & PTX_F_FTZ) != 0);
    emit_rule(l, r, &d, p);
    if (mode)
        lower_fp_mode(l, d.stream, 0, 0);
    if (in->flags & PTX_F_SAT) {
        struct insn *i =
            lower_emit(l, d.stream, in->type == PTX_F64 ? VM_OP_sat_f64 : VM_OP_sat_f32);
        i->d = i->a = d.row;
    }
    lower_finish(l, &d);
}

/* Two floats in 64 bits: each half as an operation of its own. A temporary has room for both halves
 * of an operand, as two rows of 32 bits. */
static bool lower_float_pair(struct lower *l, const struct ptx_instr *in)
{
    enum vm_op op = in->op == PTX_OP_add   ? VM_OP_add_f32
                    : in->op == PTX_OP_sub ? VM_OP_sub_f32
                    : in->op == PTX_OP_mul ? VM_OP_mul_f32
                                           : VM_OP_fma_f32;
    unsigned sources = in->op == PTX_OP_fma ? 3 : 2;
    if (in->op != PTX_OP_add && in->op != PTX_OP_sub && in->op != PTX_OP_mul &&
        in->op != PTX_OP_fma)
        return false;
    struct result d = lower_result(l, &in->operands[0]);
    for (unsigned k = 0; k < sources; k++) {
        uint32_t at =
            lower_row(l, d.stream, lower_place(l, &in->operands[1 + k], PTX_B64), true, 3);
        lower_unary(l, d.stream, VM_OP_trunc64_32, lower_temp(k), at);
        lower_unary(l, d.stream, VM_OP_high64_32, lower_temp(k) + VM_ROW32, at);
    }
    bool mode = needs_mode(in);
    if (mode)
        lower_fp_mode(l, d.stream, in->round, (in->flags & PTX_F_FTZ) != 0);
    for (uint32_t half = 0; half < 2 * VM_ROW32; half += VM_ROW32) {
        struct insn *i = lower_emit(l, d.stream, op);
        i->d = lower_temp(3) + half;
        i->a = lower_temp(0) + half;
        i->b = lower_temp(1) + half;
        i->c = lower_temp(2) + half;
    }
    if (mode)
        lower_fp_mode(l, d.stream, 0, 0);
    struct insn *i = lower_emit(l, d.stream, VM_OP_pack_64);
    i->d = d.row;
    i->a = lower_temp(3);
    i->b = lower_temp(3) + VM_ROW32;
    lower_finish(l, &d);
    return true;
}

/* ---- one at a time ---- */

bool lower_scalar(struct lower *l, const struct ptx_instr *in)
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

void lower_unary(struct lower *l, struct stream *s, enum vm_op op, uint32_t d, uint32_t a)
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
        lower_unary(l, d.stream, VM_OP_mov_64, d.row, at);
    } else {
        uint32_t last = d.wide ? lower_temp(1) : d.row;
        if (wide) {
            uint32_t narrow = kept < 4 || d.wide ? lower_temp(0) : d.row;
            lower_unary(l, d.stream, VM_OP_trunc64_32, narrow, at);
            at = narrow;
        }
        if (kept < 4) {
            enum vm_op op = kept == 1 ? (extends ? VM_OP_sext8_32 : VM_OP_zext8_32)
                                      : (extends ? VM_OP_sext16_32 : VM_OP_zext16_32);
            lower_unary(l, d.stream, op, last, at);
            at = last;
        }
        if (d.wide)
            lower_unary(l, d.stream, extends ? VM_OP_sext32_64 : VM_OP_zext32_64, d.row, at);
        else if (at != d.row)
            lower_unary(l, d.stream, VM_OP_mov_32, d.row, at);
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
        lower_unary(l, d.stream, (enum vm_op)c->handler, d.row,
                    lower_row(l, d.stream, p, c->wide_from, 0));
        lower_finish(l, &d);
        return true;
    }
    return lower_scalar(l, in);
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
    case PTX_OP_mapa:
        return lower_mapa(l, in);
    case PTX_OP_getctarank:
        return lower_getctarank(l, in);
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
    if (in->type == PTX_F32X2)
        return lower_float_pair(l, in);
    const struct rule *r = plain_form(in) ? find_rule(in) : NULL;
    if (r) {
        lower_rule(l, in, r);
        return true;
    }
    return lower_scalar(l, in);
}
