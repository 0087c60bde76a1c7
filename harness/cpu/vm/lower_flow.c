/* Branches, calls, exits, barriers and operations across lanes. */
#include "cpu/vm/lower.h"

#include <string.h>

bool lower_ends_block(const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_bra:
    case PTX_OP_brx:
    case PTX_OP_ret:
    case PTX_OP_exit:
    case PTX_OP_trap:
        return true;
    default:
        return false;
    }
}

bool lower_is_control(const struct ptx_instr *in)
{
    return ptx_op_who(in->op) != PTX_WHO_LANE || in->op == PTX_OP_unknown;
}

/* ---- branches ---- */

/* Does the loop of PTX instructions [from, to] wait for memory to change? Something it reads afresh
 * must decide, and it must not do plain work of its own. */
bool lower_polls(struct lower *l, uint32_t from, uint32_t to)
{
    bool reads = false;
    for (uint32_t k = from; k <= to; k++) {
        const struct ptx_instr *in = &l->fn->instrs[k];
        switch ((int)in->op) {
        case PTX_OP_ld:
            reads |= in->sem != PTX_WEAK;
            break;
        case PTX_OP_atom:
        case PTX_OP_nanosleep:
            reads = true;
            break;
        case PTX_OP_mbarrier:
            reads |= in->sub == PTX_MB_TEST_WAIT || in->sub == PTX_MB_TRY_WAIT;
            break;
        case PTX_OP_bar:
        case PTX_OP_barrier:
            if (in->sub != PTX_BAR_WARP)
                return false;
            break;
        default:
            break;
        }
    }
    return reads;
}

bool lower_next_polling_loop(struct lower *l, uint32_t *from, uint32_t *to)
{
    for (uint32_t k = *to ? *to + 1 : l->index; k < l->fn->instr_count; k++) {
        const struct ptx_instr *in = &l->fn->instrs[k];
        if (in->op != PTX_OP_bra || in->operands[0].kind != PTX_OPERAND_LABEL)
            continue;
        uint32_t target = (uint32_t)in->operands[0].imm;
        if (target <= l->index && k - target < 64 && lower_polls(l, target, k)) {
            *from = target;
            *to = k;
            return true;
        }
    }
    return false;
}

/* The comparison right before a forward branch on its result takes the branch over. */
static bool fuse_compare(struct lower *l, uint32_t pred, uint32_t flip, uint32_t target)
{
    static const uint16_t SETPS[] = {
#define VM_BIN(name, D, A, B, expr)
#define VM_BINC(name, D, A, B, expr)
#define VM_UN(name, D, A, expr)
#define VM_TER(name, D, A, B, C, expr)
#define VM_SETP(name, T, op) VM_OP_##name, VM_OP_##name##_vs,
#define VM_SPECIAL(name)
#include "cpu/vm/exec_ops.def"
#undef VM_BIN
#undef VM_BINC
#undef VM_UN
#undef VM_TER
#undef VM_SETP
#undef VM_SPECIAL
    };
    uint32_t at = l->main.count - 1;
    struct insn *i = &l->main.insns[at];
    if (at <= l->block || i->d != pred)
        return false;
    for (size_t k = 0; k < sizeof SETPS / sizeof *SETPS; k++)
        if (i->run == l->code->exec->handlers[SETPS[k]]) {
            i->run = l->code->exec->handlers[SETPS[k] + 2];
            i->c = flip;
            lower_jump(l, at, target);
            return true;
        }
    return false;
}

static bool lower_branch(struct lower *l, const struct ptx_instr *in)
{
    if (in->operands[0].kind != PTX_OPERAND_LABEL)
        return false;
    uint32_t target = (uint32_t)in->operands[0].imm;
    bool back = target <= l->index, guarded = in->guard >= 0;
    if (guarded && !back &&
        fuse_compare(l, lower_pred(l, in->guard), in->guard_negated ? VM_FULL : 0, target))
        return true;
    uint32_t at = l->main.count;
    struct insn *i = lower_emit(l, &l->main,
                                back ? (guarded ? VM_OP_bra_back_if : VM_OP_bra_back)
                                     : (guarded ? VM_OP_bra_if : VM_OP_bra));
    if (guarded) {
        i->a = lower_pred(l, in->guard);
        i->b = in->guard_negated ? VM_FULL : 0;
    }
    i->y = back && lower_polls(l, target, l->index);
    l->code->polls |= i->y;
    lower_jump(l, at, target);
    return true;
}

static bool lower_table(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *list = &in->operands[1];
    if (list->kind != PTX_OPERAND_VEC || in->operands[0].kind != PTX_OPERAND_REG)
        return false;
    uint32_t *pcs = arena_array(&l->code->arena, list->element_count + 1, sizeof *pcs);
    for (uint32_t k = 0; k < list->element_count; k++) {
        pcs[k] = (uint32_t)list->elements[k].imm;
        lower_table_entry(l, &pcs[k]);
    }
    uint32_t row = lower_row(l, &l->main, lower_place(l, &in->operands[0], PTX_U32), false, 0);
    struct insn *i = lower_emit(l, &l->main, VM_OP_brx);
    i->a = row;
    i->c = list->element_count;
    i->imm = (uint64_t)(uintptr_t)pcs;
    return true;
}

/* ---- calls ---- */

static uint32_t words_of(const struct lower *l, int32_t symbol)
{
    return (uint32_t)((l->ptx->symbols[symbol].bytes + 3) / 4);
}

static void copy_words(struct lower *l, uint32_t to, uint32_t from, uint32_t words)
{
    for (uint32_t k = 0; k < words; k++) {
        struct insn *i = lower_emit(l, &l->main, VM_OP_mov_32);
        i->d = to + k * VM_ROW32;
        i->a = from + k * VM_ROW32;
    }
}

static enum vm_extern extern_of(const char *name)
{
    static const struct {
        const char *name;
        enum vm_extern kind;
    } KNOWN[] = {
        {"vprintf", VM_EXTERN_PRINTF},
        {"__assertfail", VM_EXTERN_ASSERT},
        {"malloc", VM_EXTERN_MALLOC},
        {"free", VM_EXTERN_FREE},
        {"__nv_aligned_device_malloc", VM_EXTERN_MALLOC_ALIGNED},
    };
    for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++)
        if (strcmp(KNOWN[k].name, name) == 0)
            return KNOWN[k].kind;
    return VM_EXTERN_UNKNOWN;
}

static bool lower_extern(struct lower *l, const struct ptx_instr *in, uint32_t index)
{
    struct extern_op *op = arena_alloc(&l->code->arena, sizeof *op);
    const struct ptx_operand *results = &in->operands[0];
    op->in = in;
    op->name = l->ptx->functions[index].name;
    op->kind = (uint8_t)extern_of(op->name);
    l->code->one_worker |= op->kind != VM_EXTERN_ASSERT && op->kind != VM_EXTERN_UNKNOWN;
    if (in->operand_count > 2) {
        const struct ptx_operand *args = &in->operands[2];
        for (uint32_t k = 0; k < args->element_count && k < VM_EXTERN_ARGS; k++) {
            if (args->elements[k].kind != PTX_OPERAND_SYMBOL)
                return false;
            op->args[k] = l->area_at[args->elements[k].symbol];
            op->arg_words[k] = (uint8_t)words_of(l, args->elements[k].symbol);
        }
    }
    if (results->element_count && results->elements[0].kind == PTX_OPERAND_SYMBOL) {
        op->result = l->area_at[results->elements[0].symbol];
        op->result_words = (uint8_t)words_of(l, results->elements[0].symbol);
    }
    lower_emit(l, &l->main, VM_OP_extern_call)->imm = (uint64_t)(uintptr_t)op;
    return true;
}

static bool lower_call(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *results = &in->operands[0], *target = &in->operands[1];
    bool direct = target->kind == PTX_OPERAND_FUNC;
    if (!direct && target->kind != PTX_OPERAND_REG)
        return false;
    uint32_t index = direct ? (uint32_t)target->imm : ~0u;
    if (direct && l->ptx->functions[index].is_declaration)
        return lower_extern(l, in, index);
    l->code->has_calls = true;
    struct insn *i = lower_emit(l, &l->main, VM_OP_reserve);
    i->a = l->out->frame_bytes;
    i->b = index;
    /* The callee's areas: results first, then parameters, right after its header. */
    uint32_t at = l->out->frame_bytes + FRAME_START, result_at = at;
    for (uint32_t k = 0; k < results->element_count; k++)
        at += words_of(l, results->elements[k].symbol) * VM_ROW32;
    const struct ptx_operand *args = in->operand_count > 2 ? &in->operands[2] : NULL;
    for (uint32_t k = 0; args && k < args->element_count; k++) {
        if (args->elements[k].kind != PTX_OPERAND_SYMBOL)
            return false;
        uint32_t words = words_of(l, args->elements[k].symbol);
        copy_words(l, at, l->area_at[args->elements[k].symbol], words);
        at += words * VM_ROW32;
    }
    if (direct) {
        i = lower_emit(l, &l->main, VM_OP_call);
        i->a = index;
    } else {
        uint32_t row = lower_row(l, &l->main, lower_place(l, target, PTX_U64), true, 0);
        i = lower_emit(l, &l->main, VM_OP_call_row);
        i->a = row;
    }
    i->x = l->out->frame_bytes;
    i->y = l->out->local_bytes;
    i->c = l->stack_used;
    for (uint32_t k = 0; k < results->element_count; k++) {
        uint32_t words = words_of(l, results->elements[k].symbol);
        copy_words(l, l->area_at[results->elements[k].symbol], result_at, words);
        result_at += words * VM_ROW32;
    }
    return true;
}

/* ---- barriers and operations across lanes ---- */

/* A cluster is one block here. arrive orders memory; wait is a barrier of the whole block: a
 * thread goes on when all others wait too, a little later than on a GPU, where all must have
 * arrived. */
static bool lower_cluster_barrier(struct lower *l, const struct ptx_instr *in)
{
    if (in->sub == PTX_BAR_CLUSTER_ARRIVE) {
        if (in->sem == PTX_RELAXED)
            return true;
        l->code->uses_fences = true;
        lower_emit(l, &l->main, VM_OP_fence)->x = PTX_SCOPE_CLUSTER;
        return true;
    }
    struct barrier_op *op = arena_alloc(&l->code->arena, sizeof *op);
    *op = (struct barrier_op){.in = in,
                              .sub = PTX_BAR_SYNC,
                              .aligned = in->flags & PTX_F_ALIGNED,
                              .id_slot = true,
                              .id = lower_constant(l, VM_BARRIERS - 1)};
    lower_emit(l, &l->main, VM_OP_barrier)->imm = (uint64_t)(uintptr_t)op;
    return true;
}

static bool lower_barrier(struct lower *l, const struct ptx_instr *in)
{
    if (in->sub == PTX_BAR_CLUSTER_ARRIVE || in->sub == PTX_BAR_CLUSTER_WAIT)
        return lower_cluster_barrier(l, in);
    struct barrier_op *op = arena_alloc(&l->code->arena, sizeof *op);
    op->in = in;
    op->sub = in->sub;
    op->aligned = in->op == PTX_OP_bar || (in->flags & PTX_F_ALIGNED);
    unsigned at = 0;
    bool reduces = in->sub == PTX_AND || in->sub == PTX_OR || in->sub == PTX_POPC;
    if (reduces)
        at = 1;
    struct ptx_operand zero = {.kind = PTX_OPERAND_IMM, .reg = -1, .reg2 = -1, .symbol = -1};
    struct place id = lower_place(l, at < in->operand_count ? &in->operands[at] : &zero, PTX_U32);
    op->id = id.at;
    op->id_slot = id.slot;
    at++;
    unsigned last = in->operand_count; /* of the operands before the predicate */
    if (reduces)
        last--;
    if (at < last) {
        struct place count = lower_place(l, &in->operands[at], PTX_U32);
        op->has_count = true;
        op->count = count.at;
        op->count_slot = count.slot;
    }
    if (reduces) {
        const struct ptx_operand *d = &in->operands[0], *p = &in->operands[in->operand_count - 1];
        if (p->kind != PTX_OPERAND_REG || d->kind != PTX_OPERAND_REG)
            return false;
        op->pred = lower_pred(l, p->reg);
        op->flip = p->negated ? VM_FULL : 0;
        op->d = in->sub == PTX_POPC ? lower_result(l, d).row : lower_pred(l, d->reg);
    }
    lower_emit(l, &l->main, VM_OP_barrier)->imm = (uint64_t)(uintptr_t)op;
    return true;
}

static void set_mask(struct lower *l, struct warp_op *op, const struct ptx_operand *o)
{
    struct place p = lower_place(l, o, PTX_U32);
    op->mask = p.at;
    op->mask_slot = p.slot;
}

static void set_destination(struct lower *l, struct warp_op *op, const struct ptx_operand *d)
{
    if (d->kind != PTX_OPERAND_REG)
        return;
    const struct reg_info *r = &l->regs[lower_root(l, d->reg)];
    op->d_is_pred = r->kind == REG_PRED;
    op->has_d = op->d_is_pred || lower_is_read(l, d->reg);
    op->d = op->d_is_pred ? lower_pred(l, d->reg) : lower_result(l, d).row;
    op->has_pred = d->reg2 >= 0 && lower_is_read(l, d->reg2);
    if (op->has_pred)
        op->pred = lower_pred(l, d->reg2);
}

/* The source value: a row, or a predicate with its complement mask. */
static void set_source(struct lower *l, struct warp_op *op, const struct ptx_operand *a,
                       enum ptx_type type)
{
    op->a_wide = ptx_type_bytes(type) == 8;
    if (a->kind == PTX_OPERAND_REG && l->regs[lower_root(l, a->reg)].kind == REG_PRED) {
        op->a_is_pred = true;
        op->a = lower_pred(l, a->reg);
        op->flip = a->negated ? VM_FULL : 0;
        return;
    }
    if (type == PTX_PRED) { /* a constant */
        struct insn *i = lower_emit(l, &l->main, VM_OP_pred_set);
        i->d = op->a = lower_pred_temp(l, 0);
        i->x = a->imm ? VM_FULL : 0;
        return;
    }
    op->a = lower_row(l, &l->main, lower_place(l, a, type), op->a_wide, 0);
}

/* Lanes to read from, worked out ahead: shuffles nearly always have constant operands. */
static void set_sources(struct lower *l, struct warp_op *op, uint32_t b, uint32_t c)
{
    uint8_t *room = arena_alloc(&l->code->arena, VM_ROW32 + 64);
    uint32_t *source = (uint32_t *)(void *)(room + (64 - (uintptr_t)room % 64) % 64);
    for (uint32_t lane = 0; lane < VM_LANES; lane++) {
        bool ok;
        vm_shfl_source((enum ptx_sub)op->sub, lane, b, c, &source[lane], &ok);
        op->in_range |= (uint32_t)ok << lane;
    }
    op->source = source;
}

static bool lower_across(struct lower *l, const struct ptx_instr *in)
{
    struct warp_op *op = arena_alloc(&l->code->arena, sizeof *op);
    struct ptx_operand everybody = {
        .kind = PTX_OPERAND_IMM, .imm = 0xffffffff, .reg = -1, .reg2 = -1, .symbol = -1};
    unsigned last = in->operand_count - 1u;
    bool sync = in->flags & PTX_F_SYNC;
    op->in = in;
    op->sub = in->sub;
    op->type = in->type;
    enum vm_op handler;
    switch ((int)in->op) {
    case PTX_OP_shfl: {
        if (in->operand_count < 4)
            return false;
        op->kind = VM_SHFL;
        handler = VM_OP_shfl;
        set_source(l, op, &in->operands[1], PTX_B32);
        struct place b = lower_place(l, &in->operands[2], PTX_U32);
        struct place c = lower_place(l, &in->operands[3], PTX_U32);
        op->b = b.at, op->b_slot = b.slot;
        op->c = c.at, op->c_slot = c.slot;
        uint64_t known_b, known_c;
        if (lower_known(l, b, &known_b) && lower_known(l, c, &known_c))
            set_sources(l, op, (uint32_t)known_b, (uint32_t)known_c);
        break;
    }
    case PTX_OP_vote:
        op->kind = VM_VOTE;
        handler = VM_OP_vote;
        set_source(l, op, &in->operands[1], PTX_PRED);
        break;
    case PTX_OP_match:
        op->kind = VM_MATCH;
        handler = VM_OP_match;
        set_source(l, op, &in->operands[1], (enum ptx_type)in->type);
        break;
    case PTX_OP_redux:
        if (ptx_type_bytes((enum ptx_type)in->type) != 4)
            return false;
        op->kind = VM_REDUX;
        handler = VM_OP_redux;
        set_source(l, op, &in->operands[1], PTX_B32);
        break;
    case PTX_OP_elect:
        op->kind = VM_ELECT;
        handler = VM_OP_elect;
        sync = true;
        break;
    default:
        op->kind = VM_WARP_SYNC;
        handler = VM_OP_warp_sync;
        sync = true;
        break;
    }
    if (!sync)
        return false; /* the forms without .sync are gone since sm_70 */
    set_mask(l, op, in->operand_count ? &in->operands[last] : &everybody);
    if (op->kind != VM_WARP_SYNC)
        set_destination(l, op, &in->operands[0]);
    op->pc = l->main.count;
    lower_emit(l, &l->main, handler)->imm = (uint64_t)(uintptr_t)op;
    return true;
}

bool lower_flow(struct lower *l, const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_bra:
        return lower_branch(l, in);
    case PTX_OP_brx:
        return lower_table(l, in);
    case PTX_OP_call:
        return lower_call(l, in);
    case PTX_OP_ret:
        lower_emit(l, &l->main, l->fn->is_entry ? VM_OP_exit : VM_OP_ret);
        return true;
    case PTX_OP_exit:
        lower_emit(l, &l->main, VM_OP_exit);
        return true;
    case PTX_OP_trap:
        lower_emit(l, &l->main, VM_OP_trap);
        return true;
    case PTX_OP_bar:
    case PTX_OP_barrier:
        return in->sub == PTX_BAR_WARP ? lower_across(l, in) : lower_barrier(l, in);
    case PTX_OP_shfl:
    case PTX_OP_vote:
    case PTX_OP_match:
    case PTX_OP_redux:
    case PTX_OP_elect:
        return lower_across(l, in);
    case PTX_OP_activemask:
        if (in->operands[0].kind == PTX_OPERAND_REG) {
            struct result d = lower_result(l, &in->operands[0]);
            lower_emit(l, &l->main, VM_OP_activemask)->d = d.row;
        }
        return true;
    case PTX_OP_fence:
    case PTX_OP_membar:
        l->code->uses_fences = true;
        lower_emit(l, &l->main, VM_OP_fence)->x = in->scope;
        return true;
    case PTX_OP_nanosleep:
        lower_emit(l, &l->main, VM_OP_nanosleep);
        return true;
    case PTX_OP_brkpt:
    case PTX_OP_pmevent:
    case PTX_OP_setmaxnreg:
    case PTX_OP_griddepcontrol:
        return true;
    default:
        return false;
    }
}
