/* Moves between rows, slots and predicates; logic on predicates; selection; the odd handlers that
 * work on whole rows but fit no list of exec_ops.def. */
#include "cpu/vm/exec.h"
#include "cpu/vm/scalar.h"

#define RESULT(D)                                                                                  \
    D *const d = ROW(D, i->d);                                                                     \
    D *const o = m == VM_FULL ? d : (D *)(void *)w->temp
#define FINISH                                                                                     \
    if (__builtin_expect(m != VM_FULL, 0))                                                         \
        BLEND(d, o, m);                                                                            \
    NEXT

HANDLER(spread_32)
{
    const r32 a = SLOT(r32, i->a);
    RESULT(r32);
    EACH_LANE(l)
    o[l] = a;
    FINISH;
}

HANDLER(spread_64)
{
    const r64 a = SLOT(r64, i->a);
    RESULT(r64);
    EACH_LANE(l)
    o[l] = a;
    FINISH;
}

/* The setup streams run with a bank that may be written. */
HANDLER(extract_32)
{
    *(r64 *)(void *)(w->bank + i->d) = *ROW(r32, i->a);
    NEXT;
}

HANDLER(extract_64)
{
    *(r64 *)(void *)(w->bank + i->d) = *ROW(r64, i->a);
    NEXT;
}

HANDLER(pred_not)
{
    vm_set_pred(&PRED(i->d), m, ~PRED(i->a));
    NEXT;
}

/* y and x: all ones to take the complement of a and b */
HANDLER(pred_and)
{
    vm_set_pred(&PRED(i->d), m, (PRED(i->a) ^ i->y) & (PRED(i->b) ^ i->x));
    NEXT;
}

HANDLER(pred_or)
{
    vm_set_pred(&PRED(i->d), m, (PRED(i->a) ^ i->y) | (PRED(i->b) ^ i->x));
    NEXT;
}

HANDLER(pred_xor)
{
    vm_set_pred(&PRED(i->d), m, PRED(i->a) ^ i->y ^ PRED(i->b) ^ i->x);
    NEXT;
}

HANDLER(pred_mov)
{
    vm_set_pred(&PRED(i->d), m, PRED(i->a));
    NEXT;
}

HANDLER(pred_set)
{
    vm_set_pred(&PRED(i->d), m, i->x);
    NEXT;
}

HANDLER(selp_32)
{
    const uint32_t p = PRED(i->c) ^ i->x;
    const r32 *a = ROW(r32, i->a), *b = ROW(r32, i->b);
    RESULT(r32);
    EACH_LANE(l)
    {
        const r32 x = a[l], y = b[l];
        o[l] = p & (1u << l) ? x : y;
    }
    FINISH;
}

HANDLER(selp_32_vs)
{
    const uint32_t p = PRED(i->c) ^ i->x;
    const r32 *a = ROW(r32, i->a), y = SLOT(r32, i->b);
    RESULT(r32);
    EACH_LANE(l)
    {
        const r32 x = a[l];
        o[l] = p & (1u << l) ? x : y;
    }
    FINISH;
}

HANDLER(selp_32_ss)
{
    const uint32_t p = PRED(i->c) ^ i->x;
    const r32 x = SLOT(r32, i->a), y = SLOT(r32, i->b);
    RESULT(r32);
    EACH_LANE(l)
    o[l] = p & (1u << l) ? x : y;
    FINISH;
}

HANDLER(selp_64)
{
    const uint32_t p = PRED(i->c) ^ i->x;
    const r64 *a = ROW(r64, i->a), *b = ROW(r64, i->b);
    RESULT(r64);
    EACH_LANE(l)
    {
        const r64 x = a[l], y = b[l];
        o[l] = p & (1u << l) ? x : y;
    }
    FINISH;
}

HANDLER(pack_64)
{
    const r32 *a = ROW(r32, i->a), *b = ROW(r32, i->b);
    RESULT(r64);
    EACH_LANE(l)
    o[l] = a[l] | (uint64_t)b[l] << 32;
    FINISH;
}

/* x: all ones to take the complement; y: the value where it holds */
HANDLER(pred_row)
{
    const uint32_t p = PRED(i->a) ^ i->x, value = i->y;
    RESULT(r32);
    EACH_LANE(l)
    o[l] = p & (1u << l) ? value : 0;
    FINISH;
}

HANDLER(row_pred)
{
    const r32 *a = ROW(r32, i->a);
    uint32_t r = 0;
    for (unsigned l = 0; l < VM_LANES; l++)
        r |= (uint32_t)(a[l] != 0) << l;
    vm_set_pred(&PRED(i->d), m, r);
    NEXT;
}

/* Bit k of the table is the result for (a, b, c) = bits 2, 1, 0 of k. */
HANDLER(lop3)
{
    const r32 *a = ROW(r32, i->a), *b = ROW(r32, i->b), *c = ROW(r32, i->c);
    uint32_t term[8];
    for (unsigned k = 0; k < 8; k++)
        term[k] = i->x >> k & 1 ? ~0u : 0;
    RESULT(r32);
    EACH_LANE(l)
    {
        const r32 x = a[l], y = b[l], z = c[l];
        uint32_t low =
            (~y & ((~z & term[0]) | (z & term[1]))) | (y & ((~z & term[2]) | (z & term[3])));
        uint32_t high =
            (~y & ((~z & term[4]) | (z & term[5]))) | (y & ((~z & term[6]) | (z & term[7])));
        o[l] = (~x & low) | (x & high);
    }
    FINISH;
}

static inline uint64_t operand(const uint8_t *f, uint32_t offset, bool wide, unsigned l)
{
    return wide ? ROW(r64, offset)[l] : ROW(r32, offset)[l];
}

/* Lane by lane through a function of scalar.c: the operations that are too rare for loops of their
 * own. */
HANDLER(scalar)
{
    const struct scalar_op *op = (const struct scalar_op *)(uintptr_t)i->imm;
    uint32_t truth = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t a = operand(f, i->a, op->wide[1], l);
        uint64_t b = op->operands > 1 ? operand(f, i->b, op->wide[2], l) : 0;
        uint64_t c = op->operands > 2 ? operand(f, i->c, op->wide[3], l) : 0;
        if (op->operands > 3)
            c = (c & 0xffffffffu) | operand(f, op->fourth, op->wide[4], l) << 32;
        uint64_t r = op->function(a, b, c, op->in);
        if (op->to_predicate)
            truth |= (uint32_t)(r & 1) << l;
        else if (op->wide[0])
            ROW(r64, i->d)[l] = r;
        else
            ROW(r32, i->d)[l] = (uint32_t)r;
    }
    if (op->to_predicate)
        vm_set_pred(&PRED(i->d), m, truth);
    NEXT;
}

/* add, addc, sub, subc, mad.lo/hi with the carry: the flag is a predicate at op->flag. */
HANDLER(carry)
{
    const struct scalar_op *op = (const struct scalar_op *)(uintptr_t)i->imm;
    uint32_t flag = PRED(op->flag), out = 0;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t a = operand(f, i->a, op->wide[1], l);
        uint64_t b = operand(f, i->b, op->wide[2], l);
        uint64_t c = op->operands > 2 ? operand(f, i->c, op->wide[3], l) : 0;
        bool carry = flag >> l & 1;
        uint64_t r = vm_scalar_carry(a, b, c, op->in, &carry);
        out |= (uint32_t)carry << l;
        if (op->wide[0])
            ROW(r64, i->d)[l] = r;
        else
            ROW(r32, i->d)[l] = (uint32_t)r;
    }
    if (op->in->flags & PTX_F_CC)
        vm_set_pred(&PRED(op->flag), m, out);
    NEXT;
}

/* Rounding and flushing of the floating-point unit, until the next fp_mode. */
HANDLER(fp_mode)
{
    vm_scalar_fp_mode(i->x, i->y);
    NEXT;
}

/* A parameter area: word k of lane l at a + k * 128 + l * 4. x: bytes; y: bit 0 sign, bit 1 wide
 * register; c: offset of the first byte within its word. */
HANDLER(area_load)
{
    const uint8_t *words = f + i->a;
    RESULT(r64);
    r32 *narrow = (r32 *)(void *)o;
    for (unsigned l = 0; l < VM_LANES; l++) {
        uint64_t v = *(const r32 *)(const void *)(words + (size_t)4 * l);
        if (i->x == 8)
            v |= (uint64_t) * (const r32 *)(const void *)(words + VM_ROW32 + (size_t)4 * l) << 32;
        if (i->x < 4) {
            v = v >> (8 * i->c) & (i->x == 1 ? 0xff : 0xffff);
            if (i->y & 1)
                v = i->x == 1 ? (uint64_t)(int64_t)(int8_t)v : (uint64_t)(int64_t)(int16_t)v;
        } else if (i->x == 4 && (i->y & 1)) {
            v = (uint64_t)(int64_t)(int32_t)v;
        }
        if (i->y & 2)
            o[l] = v;
        else
            narrow[l] = (uint32_t)v;
    }
    if (m != VM_FULL) {
        if (i->y & 2)
            BLEND(d, o, m);
        else
            vm_blend32((r32 *)(void *)d, narrow, m);
    }
    NEXT;
}

HANDLER(area_store)
{
    uint8_t *words = f + i->d;
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned l = LANE(rest);
        uint64_t v = operand(f, i->a, i->y & 2, l);
        r32 *to = (r32 *)(void *)(words + (size_t)4 * l);
        if (i->x >= 4) {
            *to = (uint32_t)v;
            if (i->x == 8)
                *(r32 *)(void *)(words + VM_ROW32 + (size_t)4 * l) = (uint32_t)(v >> 32);
        } else {
            uint32_t bits = (i->x == 1 ? 0xffu : 0xffffu) << (8 * i->c);
            *to = (*to & ~bits) | ((uint32_t)v << (8 * i->c) & bits);
        }
    }
    NEXT;
}

HANDLER(sreg_row)
{
    uint32_t values[VM_LANES];
    vm_sreg_row(w, i->x, values);
    r32 *d = ROW(r32, i->d);
    for (uint32_t rest = m; rest; rest &= rest - 1)
        d[LANE(rest)] = values[LANE(rest)];
    NEXT;
}
