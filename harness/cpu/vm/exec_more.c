/* Handlers of rare instructions on memory. The work is done lane by lane in check_wide.c. */
#include "cpu/vm/exec.h"

HANDLER(atomic_128)
{
    const struct mem_op *op = (const struct mem_op *)(uintptr_t)i->imm;
    for (unsigned l = 0; l < VM_LANES; l++) {
        uint64_t a = op->form == VM_ADDRESS_SLOT ? SLOT(r64, op->address)
                     : op->form == VM_ADDRESS_32 ? ROW(r32, op->address)[l]
                                                 : ROW(r64, op->address)[l];
        a += (uint64_t)op->offset;
        w->lane_address[l] = op->narrow ? (uint32_t)a : a;
    }
    vm_columns_end(w->engine);
    if (!vm_atomic_128(w, op, f, m))
        return;
    NEXT;
}

HANDLER(alloca)
{
    if (!vm_alloca(w, i, m))
        return;
    NEXT;
}
