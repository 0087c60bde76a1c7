/* Superinstructions: instructions that follow each other in nearly every scan and feed each other
 * are done by one handler, so that the values between them stay in the processor's registers.
 * Results of all of them are written as before, and they stay where they are: the fused handler
 * stands at the first one and goes on behind the last, or does the first one alone when its short
 * way is barred. So nothing about counts, faults or positions changes. Loads and stores that share
 * stretches of memory are only marked here. */
#include "cpu/vm/lower.h"

static bool is(const struct vm_code *c, uint32_t pc, enum vm_op op)
{
    return pc < c->insn_count && c->insns[pc].run == c->exec->handlers[op];
}

/* A step of a scan across the warp: n = shfl(v); n = lane is far enough ? n : 0; v' = v + n */
static bool is_scan_step(const struct vm_code *c, uint32_t pc)
{
    if (!is(c, pc, VM_OP_shfl) || !is(c, pc + 1, VM_OP_selp_32_vs) || !is(c, pc + 2, VM_OP_add_32))
        return false;
    const struct warp_op *shfl = (const struct warp_op *)(uintptr_t)c->insns[pc].imm;
    const struct insn *select = &c->insns[pc + 1], *add = &c->insns[pc + 2];
    bool joins =
        (add->a == select->d && add->b == shfl->a) || (add->b == select->d && add->a == shfl->a);
    return joins && shfl->has_d && shfl->source && !shfl->has_pred && select->a == shfl->d &&
           shfl->d != shfl->a && select->d != shfl->a;
}

/* An element's address: base + (wide)index * size */
static bool is_address(const struct vm_code *c, uint32_t pc)
{
    return (is(c, pc, VM_OP_mulw_s32_vs) || is(c, pc, VM_OP_mulw_u32_vs)) &&
           is(c, pc + 1, VM_OP_add_64_vs) && c->insns[pc + 1].a == c->insns[pc].d;
}

/* ---- columns, see exec_columns.h ---- */

static const struct mem_op *plain_word(const struct vm_code *c, uint32_t pc, enum vm_op handler)
{
    const struct mem_op *op = (const struct mem_op *)(uintptr_t)c->insns[pc].imm;
    return is(c, pc, handler) && op->strength == VM_PLAIN ? op : NULL;
}

/* Accesses through one address register whose words lie in the same 16 bytes, counted from the
 * lowest. a: how far into them; b: a load has company, a store is one of four. Only a hint, since
 * the register's row may mean different things in different places. */
static void mark_column(struct vm_code *c, uint32_t pc, enum vm_op handler)
{
    enum { WITHIN = 256, BYTES = 4 * VM_COLUMNS }; /* instructions */
    const struct mem_op *op = plain_word(c, pc, handler), *mate;
    if (!op)
        return;
    int64_t lowest = op->offset;
    unsigned found = 0; /* a bit per column */
    const uint32_t from = pc > WITHIN ? pc - WITHIN : 0;
    const uint32_t to = c->insn_count - pc > WITHIN ? pc + WITHIN : c->insn_count;
    for (uint32_t k = from; k < to; k++)
        if ((mate = plain_word(c, k, handler)) && mate->address == op->address &&
            mate->offset < lowest)
            lowest = mate->offset;
    const int64_t base = op->offset - (op->offset - lowest) % BYTES;
    for (uint32_t k = from; k < to; k++)
        if ((mate = plain_word(c, k, handler)) && mate->address == op->address &&
            mate->offset >= base && mate->offset < base + BYTES && (mate->offset - base) % 4 == 0)
            found |= 1u << (mate->offset - base) / 4;
    const unsigned all = (1u << VM_COLUMNS) - 1;
    c->insns[pc].a = (uint32_t)(op->offset - base);
    c->insns[pc].b = (op->offset - base) % 4 ? 0
                     : op->write             ? found == all
                                             : (found & (found - 1)) != 0;
}

void lower_fuse(struct vm_code *c)
{
    for (uint32_t pc = 0; pc < c->insn_count; pc++) {
        mark_column(c, pc, VM_OP_load_32);
        mark_column(c, pc, VM_OP_store_32);
    }
    for (uint32_t pc = 0; pc < c->insn_count; pc++) {
        enum vm_op op;
        if (is_scan_step(c, pc))
            op = VM_OP_scan_step;
        else if (is_address(c, pc))
            op = is(c, pc, VM_OP_mulw_s32_vs) ? VM_OP_address_s32 : VM_OP_address_u32;
        else
            continue;
        c->insns[pc].run = c->exec->handlers[op];
    }
}
