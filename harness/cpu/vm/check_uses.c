/* What becomes of a loaded value? Structures are copied as they lie in memory, padding included:
 * that is no fault as long as its undefined bytes are only carried along. Followed through the
 * function's registers, byte by byte: moved, shuffled, packed, stored they stay harmless; cut off
 * they are gone; anything else that sees them uses them. Registers are taken as they are written in
 * the text, so all paths count, whichever was taken. */
#include "cpu/vm/check.h"

#include <stdlib.h>

struct trail {
    const struct ptx_function *function;
    uint8_t *seen; /* per register: the undefined bytes that were followed from it */
};

static bool follow(struct trail *t, int32_t reg, uint64_t undefined);

static bool is_reg(const struct ptx_operand *o, int32_t reg)
{
    return (o->kind == PTX_OPERAND_REG || o->kind == PTX_OPERAND_ADDR) &&
           (o->reg == reg || (o->kind == PTX_OPERAND_REG && o->reg2 == reg));
}

static bool mentions(const struct ptx_operand *o, int32_t reg)
{
    if (o->kind != PTX_OPERAND_VEC)
        return is_reg(o, reg);
    for (uint32_t k = 0; k < o->element_count; k++)
        if (is_reg(&o->elements[k], reg))
            return true;
    return false;
}

static uint64_t low_bytes(unsigned count)
{
    return count >= 8 ? 0xff : (1u << count) - 1;
}

static const struct ptx_operand *immediate(const struct ptx_instr *in, unsigned k)
{
    bool there = k < in->operand_count && in->operands[k].kind == PTX_OPERAND_IMM;
    return there ? &in->operands[k] : NULL;
}

static bool goes_to(struct trail *t, const struct ptx_operand *to, uint64_t undefined)
{
    return !undefined || to->kind == PTX_OPERAND_SINK ||
           (to->kind == PTX_OPERAND_REG && follow(t, to->reg, undefined));
}

/* mov: as it is, taken apart, or put together. */
static bool moved(struct trail *t, const struct ptx_instr *in, int32_t reg, uint64_t undefined)
{
    const struct ptx_operand *to = &in->operands[0], *from = &in->operands[1];
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    if (to->kind == PTX_OPERAND_VEC) {
        unsigned part = bytes / to->element_count;
        bool good = true;
        for (uint32_t k = 0; k < to->element_count && good; k++)
            good = goes_to(t, &to->elements[k], undefined >> (k * part) & low_bytes(part));
        return good;
    }
    if (from->kind == PTX_OPERAND_VEC) {
        unsigned part = bytes / from->element_count;
        bool good = true;
        for (uint32_t k = 0; k < from->element_count && good; k++)
            if (is_reg(&from->elements[k], reg))
                good = goes_to(t, to, (undefined & low_bytes(part)) << (k * part));
        return good;
    }
    return goes_to(t, to, undefined);
}

static bool converted(struct trail *t, const struct ptx_instr *in, uint64_t undefined)
{
    enum ptx_type to = (enum ptx_type)in->type, from = (enum ptx_type)in->src_type;
    uint64_t seen = undefined & low_bytes(ptx_type_bytes(from));
    bool whole = !ptx_type_is_float(to) && !ptx_type_is_float(from);
    if (!seen)
        return true;
    return whole && goes_to(t, &in->operands[0], seen & low_bytes(ptx_type_bytes(to)));
}

/* Bytes of a field: bits [at, at + count). */
static uint64_t bytes_of_bits(int64_t at, int64_t count)
{
    if (count <= 0 || at < 0 || at > 63)
        return 0;
    int64_t end = at + count > 64 ? 64 : at + count;
    return low_bytes((unsigned)((end + 7) / 8)) & ~low_bytes((unsigned)(at / 8));
}

static uint64_t shifted(const struct ptx_instr *in, uint64_t undefined, bool left, int64_t bits)
{
    unsigned whole = (unsigned)(bits / 8 & 7), some = (unsigned)(bits & 7);
    uint64_t all = low_bytes(ptx_type_bytes((enum ptx_type)in->type));
    uint64_t m = left ? undefined << whole : undefined >> whole;
    if (some)
        m |= left ? m << 1 : m >> 1;
    return m & all;
}

/* prmt with a known selector: each byte of the result is one of the eight of a and b. */
static uint64_t permuted(const struct ptx_instr *in, int32_t reg, uint64_t undefined,
                         int64_t selector)
{
    uint64_t result = 0, of_a = is_reg(&in->operands[1], reg) ? undefined & 15 : 0;
    uint64_t both = of_a | (is_reg(&in->operands[2], reg) ? (undefined & 15) << 4 : 0);
    for (unsigned k = 0; k < 4; k++)
        result |= (both >> (selector >> (4 * k) & 7) & 1) << k;
    return result;
}

/* and with a constant: bytes under zeros are gone. */
static uint64_t masked(uint64_t undefined, int64_t constant)
{
    for (unsigned k = 0; k < 8; k++)
        if (!((uint64_t)constant >> (8 * k) & 0xff))
            undefined &= ~(1ull << k);
    return undefined;
}

static bool inserted(struct trail *t, const struct ptx_instr *in, int32_t reg, uint64_t undefined)
{
    const struct ptx_operand *at = immediate(in, 3), *count = immediate(in, 4);
    uint64_t result = 0;
    if (!at || !count || is_reg(&in->operands[3], reg))
        return false;
    if (is_reg(&in->operands[1], reg))
        result |= (undefined << (at->imm / 8)) & bytes_of_bits(at->imm, count->imm);
    if (is_reg(&in->operands[2], reg)) {
        bool whole = at->imm % 8 == 0 && count->imm % 8 == 0;
        result |= whole ? undefined & ~bytes_of_bits(at->imm, count->imm) : undefined;
    }
    return goes_to(t, &in->operands[0], result);
}

/* Does the instruction only carry along what is undefined in reg? It has reg as a source. */
static bool carries(struct trail *t, const struct ptx_instr *in, int32_t reg, uint64_t undefined)
{
    const struct ptx_operand *o = in->operands, *second = immediate(in, 2);
    switch ((int)in->op) {
    case PTX_OP_st:
        return !mentions(&o[0], reg);
    case PTX_OP_mov:
        return moved(t, in, reg, undefined);
    case PTX_OP_shfl:
        return is_reg(&o[1], reg) && !is_reg(&o[2], reg) && goes_to(t, &o[0], undefined);
    case PTX_OP_selp:
    case PTX_OP_or:
    case PTX_OP_xor:
        return goes_to(t, &o[0], undefined);
    case PTX_OP_cvt:
        return converted(t, in, undefined);
    case PTX_OP_and:
        return goes_to(t, &o[0], second ? masked(undefined, second->imm) : undefined);
    case PTX_OP_shl:
    case PTX_OP_shr:
        return second &&
               goes_to(t, &o[0], shifted(in, undefined, in->op == PTX_OP_shl, second->imm));
    case PTX_OP_bfe:
        return second && immediate(in, 3) &&
               goes_to(t, &o[0],
                       (undefined & bytes_of_bits(second->imm, immediate(in, 3)->imm)) >>
                           (second->imm / 8 & 7));
    case PTX_OP_bfi:
        return inserted(t, in, reg, undefined);
    case PTX_OP_prmt:
        return in->sub == PTX_SUB_NONE && immediate(in, 3) &&
               goes_to(t, &o[0], permuted(in, reg, undefined, immediate(in, 3)->imm));
    default:
        return false;
    }
}

static bool is_source(const struct ptx_instr *in, int32_t reg)
{
    bool stores = in->op == PTX_OP_st || in->op == PTX_OP_red || in->op == PTX_OP_call;
    for (unsigned k = stores ? 0 : 1; k < in->operand_count; k++)
        if (mentions(&in->operands[k], reg))
            return true;
    return false;
}

static bool follow(struct trail *t, int32_t reg, uint64_t undefined)
{
    const struct ptx_function *f = t->function;
    if (reg < 0 || (uint32_t)reg >= f->reg_count || (undefined & ~(uint64_t)t->seen[reg]) == 0)
        return true;
    t->seen[reg] |= (uint8_t)undefined;
    for (uint32_t k = 0; k < f->instr_count; k++)
        if (is_source(&f->instrs[k], reg) && !carries(t, &f->instrs[k], reg, undefined))
            return false;
    return true;
}

static const struct ptx_function *function_of(const struct vm_code *code,
                                              const struct ptx_instr *in)
{
    const struct ptx_module *ptx = &code->module->ptx;
    for (uint32_t k = 0; k < ptx->function_count; k++) {
        const struct ptx_function *f = &ptx->functions[k];
        if (f->instrs && in >= f->instrs && in < f->instrs + f->instr_count)
            return f;
    }
    return NULL;
}

/* Undefined bytes of a load, as bits: does nobody look at them? */
static bool only_carried(const struct ptx_function *f, const struct mem_op *op, uint64_t undefined)
{
    const struct ptx_operand *to = &op->in->operands[0];
    bool carried = true;
    for (unsigned k = 0; k < op->count && carried; k++) {
        struct trail t = {.function = f, .seen = calloc(f->reg_count + 1u, 1)};
        if (!t.seen)
            BUG("out of memory for the registers of a kernel");
        carried = goes_to(&t, to->kind == PTX_OPERAND_VEC ? &to->elements[k] : to,
                          undefined >> (op->bytes * k) & low_bytes(op->bytes));
        free(t.seen);
    }
    return carried;
}

/* ---- padding ---- */

/* Does the same statement load what lies beside it? */
static bool has_neighbour(const struct vm_code *code, const struct ptx_function *f,
                          const struct ptx_instr *in)
{
    const struct ptx_loc *locs = code->module->ptx.locs;
    const struct ptx_operand *address = &in->operands[1];
    for (uint32_t k = 0; k < f->instr_count; k++) {
        const struct ptx_instr *other = &f->instrs[k];
        const struct ptx_operand *o = &other->operands[1];
        if (other->op == PTX_OP_ld && other != in && o->reg == address->reg &&
            o->symbol == address->symbol && o->imm != address->imm &&
            locs[other->loc].line == locs[in->loc].line)
            return true;
    }
    return false;
}

/* Could an element without any defined byte be padding? That follows a member, in the same 8 bytes.
 */
static bool may_be_padding(const struct warp *w, const struct mem_op *op, unsigned lane, unsigned k,
                           const struct ptx_function *f)
{
    int64_t from = (int64_t)k * op->bytes;
    unsigned in_8 = (unsigned)((w->lane_address[lane] + (uint64_t)from) & 7);
    bool follows = in_8 && check_undefined(w, op, lane, from - in_8, in_8) != (1ull << in_8) - 1;
    if (op->bytes == 4)
        return follows && op->count > 1;
    return follows && op->bytes < 4 && (op->count > 1 || has_neighbour(w->engine->code, f, op->in));
}

bool check_padding(const struct warp *w, const struct mem_op *op, unsigned lane)
{
    struct mem_cache *c = &w->engine->caches[op->index];
    uint64_t undefined = check_undefined(w, op, lane, 0, op->total) & op->used_bytes;
    if (op->in->op != PTX_OP_ld || op->strength != VM_PLAIN || op->bytes > 8 || !undefined)
        return false;
    const struct ptx_function *f = function_of(w->engine->code, op->in);
    if (!f)
        return false;
    uint64_t word = low_bytes(op->bytes);
    for (unsigned k = 0; k < op->count; k++)
        if ((undefined >> (k * op->bytes) & word) == word && !may_be_padding(w, op, lane, k, f))
            return false;
    if (undefined == c->carried)
        return true;
    if (!only_carried(f, op, undefined))
        return false;
    c->carried = (uint32_t)undefined;
    return true;
}
