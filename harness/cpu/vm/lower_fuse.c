/* Superinstructions: instructions that follow each other in nearly every scan and feed each other
 * are done by one handler, so that the values between them stay in the processor's registers.
 * Results of all of them are written as before, and they stay where they are: the fused handler
 * stands at the first one and goes on behind the last, or does the first one alone when its short
 * way is barred. So nothing about counts, faults or positions changes. */
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

void lower_fuse(struct vm_code *c)
{
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
