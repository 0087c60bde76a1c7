/* Fine code: what a kernel is lowered to when a schedule may interleave threads between any two
 * accesses and part the lanes of a warp there. Turns end and groups meet at block heads, so every
 * access to memory that others can see begins a block of its own. Registers of lanes that stand at
 * different places never meet (rows are written under a mask), so nothing else changes.
 *
 * Where stores may be seen late (delay.h), what orders them is preceded by a `publish`. */
#include "cpu/vm/delay.h"
#include "cpu/vm/lower.h"

bool lower_is_access(const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_ld:
    case PTX_OP_st:
        return in->space != PTX_PARAM && in->space != PTX_LOCAL && in->space != PTX_CONST;
    case PTX_OP_atom:
    case PTX_OP_red:
    case PTX_OP_fence:
    case PTX_OP_membar:
    case PTX_OP_activemask:
    case PTX_OP_cp:
    case PTX_OP_mbarrier:
        return true;
    default:
        return false;
    }
}

static enum delay_scope of_scope(const struct ptx_instr *in)
{
    return in->scope == PTX_SCOPE_CTA ? DELAY_BLOCK : DELAY_DEVICE;
}

void lower_publish(struct lower *l, const struct ptx_instr *in)
{
    enum delay_scope scope;
    switch ((int)in->op) {
    case PTX_OP_fence:
    case PTX_OP_membar:
        scope = of_scope(in);
        break;
    case PTX_OP_st:
    case PTX_OP_atom:
    case PTX_OP_red:
        if (in->sem != PTX_RELEASE && in->sem != PTX_ACQ_REL && in->sem != PTX_SC)
            return;
        scope = of_scope(in);
        break;
    case PTX_OP_cp: /* reads memory itself, later */
    case PTX_OP_mbarrier:
    case PTX_OP_griddepcontrol:
        scope = DELAY_DEVICE;
        break;
    default:
        if (ptx_op_who(in->op) != PTX_WHO_SYNC)
            return;
        scope = DELAY_BLOCK;
        break;
    }
    lower_emit(l, &l->main, VM_OP_publish)->x = scope;
}
