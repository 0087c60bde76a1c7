/* cp.async in all its forms, and mbarrier: one handler, told apart by a struct async_op. */
#include "cpu/vm/lower.h"

#include <string.h>

static struct async_value place_value(struct lower *l, const struct ptx_operand *o,
                                      enum ptx_type type)
{
    struct place p = lower_place(l, o, type);
    bool wide = o->kind == PTX_OPERAND_REG ? lower_is_wide(l, o->reg) : false;
    return (struct async_value){.slot = p.slot, .wide = wide, .at = p.at};
}

static void set_size(struct lower *l, struct async_op *op, const struct ptx_operand *o,
                     enum ptx_type type)
{
    op->has_size = true;
    op->size = place_value(l, o, type);
}

static void emit(struct lower *l, struct async_op *op)
{
    op->to.pc = op->from.pc = op->barrier.pc = l->main.count;
    lower_emit(l, &l->main, VM_OP_async)->imm = (uint64_t)(uintptr_t)op;
}

/* An address operand as a mem_op of its own, for checks and messages. */
static void set_side(struct lower *l, struct mem_op *side, const struct ptx_instr *in,
                     const struct ptx_operand *a, enum ptx_space space, bool write)
{
    lower_mem_op(l, side, in);
    side->space = (uint8_t)space;
    side->write = write;
    side->strength = VM_PLAIN;
    side->bytes = 4;
    side->count = 1;
    side->sub = PTX_SUB_NONE;
    side->used_bytes = ~0u;
    lower_address(l, side, a);
}

/* What cp.reduce.async.bulk does with each element: PTX_SUB_NONE = the text does not say. */
static uint8_t reduction_of(const char *text)
{
    static const struct {
        const char *name;
        enum ptx_sub sub;
    } NAMES[] = {{".add.", PTX_ADD}, {".min.", PTX_MIN}, {".max.", PTX_MAX}, {".inc.", PTX_INC},
                 {".dec.", PTX_DEC}, {".and.", PTX_AND}, {".or.", PTX_OR},   {".xor.", PTX_XOR}};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        if (strstr(text, NAMES[k].name))
            return (uint8_t)NAMES[k].sub;
    return PTX_SUB_NONE;
}

static bool lower_copy(struct lower *l, const struct ptx_instr *in, struct async_op *op)
{
    const struct ptx_operand *o = in->operands;
    unsigned n = in->operand_count;
    bool bulk = in->sub != PTX_CP_ASYNC;
    if (n < 3 || o[0].kind != PTX_OPERAND_ADDR || o[1].kind != PTX_OPERAND_ADDR)
        return false;
    /* dst.src as written: space is the destination's, space2 the source's. */
    op->kind = bulk ? VM_ASYNC_BULK : VM_ASYNC_COPY;
    if (in->sub == PTX_CP_REDUCE_BULK && !(op->reduction = reduction_of(in->text)))
        return false;
    l->code->one_worker |= op->reduction != PTX_SUB_NONE;
    set_side(l, &op->to, in, &o[0], (enum ptx_space)in->space, true);
    set_side(l, &op->from, in, &o[1], (enum ptx_space)in->space2, false);
    set_size(l, op, &o[2], PTX_U32);
    bool ignore = !bulk && n > 3 && o[3].kind == PTX_OPERAND_REG &&
                  l->regs[lower_root(l, o[3].reg)].kind == REG_PRED;
    bool policy = !bulk && n > 3 && o[3].kind == PTX_OPERAND_REG && lower_is_wide(l, o[3].reg);
    if (ignore) {
        op->ignore = lower_pred(l, o[3].reg);
        op->ignore_flip = o[3].negated ? VM_FULL : 0;
        op->may_ignore = true;
    } else if (!bulk && n > 3 && !policy) {
        op->has_source_size = true;
        op->source_size = place_value(l, &o[3], PTX_U32);
    }
    if (bulk && n > 3 && o[3].kind == PTX_OPERAND_ADDR) {
        op->has_barrier = true;
        set_side(l, &op->barrier, in, &o[3], PTX_SHARED, true);
    }
    if (bulk && in->space == PTX_SHARED_CLUSTER && !op->has_barrier)
        return false;
    emit(l, op);
    return true;
}

static bool lower_mbarrier(struct lower *l, const struct ptx_instr *in, struct async_op *op)
{
    const struct ptx_operand *o = in->operands;
    unsigned n = in->operand_count, at = 0;
    bool has_d = n && o[0].kind != PTX_OPERAND_ADDR;
    if (has_d) {
        at = 1;
        op->has_result = o[0].kind == PTX_OPERAND_REG;
        if (op->has_result)
            op->result = l->regs[lower_root(l, o[0].reg)].kind == REG_PRED
                             ? lower_pred(l, o[0].reg)
                             : lower_result(l, &o[0]).row;
    }
    if (in->sub == PTX_MB_PENDING_COUNT) {
        if (n < 2 || !op->has_result)
            return false;
        set_size(l, op, &o[1], PTX_U64);
        op->size.wide = true;
        emit(l, op);
        return true;
    }
    bool waits = in->sub == PTX_MB_TEST_WAIT || in->sub == PTX_MB_TRY_WAIT;
    if (at >= n || o[at].kind != PTX_OPERAND_ADDR || (waits && (!op->has_result || at + 1 >= n)))
        return false;
    enum ptx_space space = in->space == PTX_GENERIC ? PTX_GENERIC : PTX_SHARED;
    set_side(l, &op->barrier, in, &o[at], space, !waits);
    op->barrier.total = op->barrier.bytes = 8;
    op->barrier.strength = VM_STRONG;
    op->barrier.sub = waits ? PTX_SUB_NONE : PTX_ADD;
    op->barrier.releases = true;
    if (at + 1 < n) {
        set_size(l, op, &o[at + 1], waits && !(in->flags & PTX_F_PARITY) ? PTX_U64 : PTX_U32);
        if (op->size.slot && waits)
            op->size.wide = true;
    }
    emit(l, op);
    return true;
}

bool lower_async(struct lower *l, const struct ptx_instr *in)
{
    if (in->op != PTX_OP_cp && in->op != PTX_OP_mbarrier)
        return false;
    struct async_op *op = arena_alloc(&l->code->arena, sizeof *op);
    op->in = in;
    l->code->uses_fences = l->code->has_copies = true;
    if (in->op == PTX_OP_mbarrier || in->sub == PTX_CP_MBARRIER_ARRIVE)
        return lower_mbarrier(l, in, op);
    switch ((int)in->sub) {
    case PTX_CP_ASYNC:
    case PTX_CP_BULK:
    case PTX_CP_REDUCE_BULK:
        return lower_copy(l, in, op);
    case PTX_CP_BULK_PREFETCH:
        return true;
    case PTX_CP_COMMIT_GROUP:
    case PTX_CP_WAIT_ALL:
    case PTX_CP_BULK_COMMIT_GROUP:
        emit(l, op);
        return true;
    case PTX_CP_WAIT_GROUP:
    case PTX_CP_BULK_WAIT_GROUP:
        if (in->operand_count < 1)
            return false;
        set_size(l, op, &in->operands[0], PTX_U32);
        emit(l, op);
        return true;
    default:
        return false;
    }
}
