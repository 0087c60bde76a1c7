/* Fine code: what a kernel is lowered to when a schedule may interleave threads between any two
 * accesses and part the lanes of a warp there. Turns end and groups meet at block heads, so every
 * access to memory that others can see begins a block of its own. Registers of lanes that stand at
 * different places never meet (rows are written under a mask), so nothing else changes. */
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
