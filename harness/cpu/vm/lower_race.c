/* How strongly a memory access is ordered, for the race detector: what the instruction says, and
 * what only the code around it tells.
 *
 * A load that decides how a polling loop goes on waits for another thread: what it reads is a flag.
 * nvcc often peels the first round of such a loop, so that a load of the same place outside of it
 * waits, too. What a loop reads besides is data, as the values in a look-back. An atomic whose
 * answer is compared with something tells its thread that all others have been there, or that the
 * lock was free: a flag as well. A number that was drawn (a ticket) is none; it is compared with 0
 * at most.
 *
 * Volatile loads in polling loops are no exchange in lock-step. And a volatile store of a value
 * that was made of a volatile load of the same place (c = c + 1) may undo what others stored
 * between the two. */
#include "cpu/vm/lower.h"

#include <string.h>

enum { DEPTH = 6 };

/* ---- where a value goes ---- */

struct flow {
    bool *holds; /* per register: something made of the value */
    bool reads, grows;
};

static void look_at_read(struct lower *l, int32_t reg, bool written, void *context)
{
    struct flow *f = context;
    f->reads |= !written && f->holds[lower_root(l, reg)];
}

static void mark_written(struct lower *l, int32_t reg, bool written, void *context)
{
    struct flow *f = context;
    bool *holds = &f->holds[lower_root(l, reg)];
    if (!written || *holds)
        return;
    *holds = f->grows = true;
}

static struct flow flow_from(struct lower *l, const struct ptx_instr *in)
{
    struct flow f = {.holds = arena_array(&l->scratch, l->fn->reg_count + 1, sizeof *f.holds)};
    memset(f.holds, 0, l->fn->reg_count * sizeof *f.holds);
    lower_registers(l, in, mark_written, &f);
    return f;
}

static bool reads_it(struct lower *l, const struct ptx_instr *in, struct flow *f)
{
    f->reads = false;
    lower_registers(l, in, look_at_read, f);
    return f->reads;
}

/* Does what `in` reads decide a branch of the loop of PTX instructions [from, to]? */
static bool decides_loop(struct lower *l, const struct ptx_instr *in, uint32_t from, uint32_t to)
{
    struct flow f = flow_from(l, in);
    do {
        f.grows = false;
        for (uint32_t k = from; k <= to; k++) {
            const struct ptx_instr *next = &l->fn->instrs[k];
            if (!reads_it(l, next, &f))
                continue;
            if (lower_ends_block(next))
                return true;
            lower_registers(l, next, mark_written, &f);
        }
    } while (f.grows);
    return false;
}

/* Instructions that hand a number on, so that it can still be told from another one. */
static bool hands_on(const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_mov:
    case PTX_OP_cvt:
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_shfl:
        return true;
    default:
        return false;
    }
}

static bool is_zero(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_IMM && o->imm == 0;
}

bool lower_decides(struct lower *l, const struct ptx_instr *in)
{
    if (in->op != PTX_OP_atom)
        return false;
    const bool takes = in->sub == PTX_CAS || in->sub == PTX_EXCH;
    struct flow f = flow_from(l, in);
    do {
        f.grows = false;
        for (uint32_t k = 0; k < l->fn->instr_count; k++) {
            const struct ptx_instr *next = &l->fn->instrs[k];
            if (next == in || !reads_it(l, next, &f))
                continue;
            if (next->op == PTX_OP_setp && (next->cmp == PTX_EQ || next->cmp == PTX_NE) &&
                (takes || (!is_zero(&next->operands[1]) && !is_zero(&next->operands[2]))))
                return true;
            if (hands_on(next))
                lower_registers(l, next, mark_written, &f);
        }
    } while (f.grows);
    return false;
}

/* ---- strength ---- */

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

/* Is the current instruction in a loop that polls, and, if need be, decides it? */
static bool polls(struct lower *l, const struct ptx_instr *in, bool decides)
{
    uint32_t from, to = 0;
    while (lower_next_polling_loop(l, &from, &to))
        if (!decides || decides_loop(l, in, from, to))
            return true;
    return false;
}

/* Does a loop of the function wait for the place that this load reads once? */
static bool has_polling_twin(struct lower *l, const struct ptx_instr *in, bool decides)
{
    uint32_t here = l->index;
    bool found = false;
    for (uint32_t k = 0; k < l->fn->instr_count && !found; k++) {
        const struct ptx_instr *twin = &l->fn->instrs[k];
        if (k == here || !is_strong_load(twin) ||
            !same_place(l, &in->operands[1], &twin->operands[1]))
            continue;
        l->index = k;
        found = polls(l, twin, decides);
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
        return polls(l, in, true);
    return is_strong_load(in) && (polls(l, in, true) || has_polling_twin(l, in, true));
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
    if (is_volatile_load(in) && (polls(l, in, false) || has_polling_twin(l, in, false)))
        return VM_POLLING;
    if (in->op == PTX_OP_st && in->operands[1].kind == PTX_OPERAND_REG &&
        made_of(l, in->operands[1].reg, &in->operands[0], 0))
        return VM_UPDATING;
    return VM_IS_VOLATILE;
}
