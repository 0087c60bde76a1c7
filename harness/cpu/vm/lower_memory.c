/* Loads, stores, atomics and parameters. Each gets a struct mem_op that says what it does; the
 * handler is picked by space and width. Parameters of calls are rows of the frame, not memory. */
#include "cpu/vm/lower.h"

void lower_mem_op(struct lower *l, struct mem_op *op, const struct ptx_instr *in)
{
    op->in = in;
    op->index = l->code->mem_op_count++;
    op->space = in->space;
    op->type = in->type;
    op->sub = in->sub;
    op->bytes = (uint8_t)ptx_type_bytes((enum ptx_type)in->type);
    op->count = in->vec ? in->vec : 1;
    op->total = (uint8_t)(op->bytes * op->count);
    op->is_signed = ptx_type_is_signed((enum ptx_type)in->type);
    op->used_bytes = in->used_bytes;
    op->read_only = (in->flags & PTX_F_NC) != 0;
    op->strength = (uint8_t)lower_strength(l, in);
    op->waits = lower_waits(l, in);
    op->decides = lower_decides(l, in);
    op->pc = l->main.count;
    if (in->sem == PTX_ACQUIRE || in->sem == PTX_RELEASE || in->sem == PTX_ACQ_REL ||
        in->sem == PTX_SC)
        l->code->uses_fences = true;
    if (op->bytes < 4 && (op->space == PTX_SHARED || op->space == PTX_GENERIC))
        l->code->narrow_shared = true;
}

static struct mem_op *new_mem_op(struct lower *l, const struct ptx_instr *in)
{
    struct mem_op *op = arena_alloc(&l->code->arena, sizeof *op);
    lower_mem_op(l, op, in);
    return op;
}

/* [reg + imm], [symbol + imm], [imm] */
void lower_address(struct lower *l, struct mem_op *op, const struct ptx_operand *a)
{
    op->offset = a->imm;
    if (a->reg >= 0) {
        const struct reg_info *r = &l->regs[lower_root(l, a->reg)];
        bool wide = r->kind == REG_64;
        op->address = r->place.at;
        op->form = wide ? VM_ADDRESS_64 : VM_ADDRESS_32;
        op->narrow = !wide;
        /* A slot holds a narrow value with zeros above it, unless it is a parameter. */
        bool clean = wide || r->place.at - l->code->params_at >= l->code->param_bytes;
        if (r->place.slot && clean) {
            op->form = VM_ADDRESS_SLOT;
        } else if (r->place.slot) {
            op->address = lower_row(l, &l->main, r->place, false, 2);
        }
        return;
    }
    uint64_t address = 0;
    if (a->symbol >= 0) {
        struct ptx_operand symbol = {
            .kind = PTX_OPERAND_SYMBOL, .symbol = a->symbol, .reg = -1, .reg2 = -1};
        struct place p = lower_place(l, &symbol, PTX_U64);
        if (!p.slot) { /* a callee's local variable */
            op->address = p.at;
            op->form = VM_ADDRESS_64;
            return;
        }
        address = lower_symbol_address(l, a->symbol);
    }
    op->form = VM_ADDRESS_SLOT;
    op->address = lower_constant(l, address);
}

/* The register or value of element k, into the mem_op. Stores of slots go through a temporary. */
static void set_element(struct lower *l, struct mem_op *op, unsigned k, const struct ptx_operand *o,
                        bool is_store)
{
    op->used[k] = true;
    if (o->kind == PTX_OPERAND_SINK) {
        op->used[k] = is_store;
        op->rows[k] = lower_temp(3);
        return;
    }
    if (is_store) {
        struct place p = lower_place(l, o, (enum ptx_type)op->type);
        op->wide[k] = o->kind == PTX_OPERAND_REG ? lower_is_wide(l, o->reg) : op->bytes == 8;
        /* Up to four values may be slots; temporary 2 may hold the address. */
        static const unsigned temps[] = {0, 1, 3};
        if (p.slot && k < 3) {
            op->rows[k] = lower_row(l, &l->main, p, op->wide[k], temps[k]);
        } else if (p.slot) {
            struct insn *i =
                lower_emit(l, &l->main, op->wide[k] ? VM_OP_spread_64 : VM_OP_spread_32);
            i->d = op->rows[k] = l->more_temps + (k - 3) * VM_ROW64;
            i->a = p.at;
        } else {
            op->rows[k] = p.at;
        }
        return;
    }
    struct result d = lower_result(l, o);
    op->rows[k] = d.row;
    op->wide[k] = d.wide;
    const unsigned first = k * op->bytes;
    uint32_t bits = op->bytes >= 32 ? ~0u : ((1u << op->bytes) - 1) << first;
    if (op->count > 1 && !(op->used_bytes & bits))
        op->used[k] = false;
}

/* Elements of 128 bits: two of 64 each, in the two rows of their register. false: no register. */
static bool set_long_elements(struct lower *l, struct mem_op *op, const struct ptx_operand *o)
{
    const struct ptx_operand *list = o->kind == PTX_OPERAND_VEC ? o->elements : o;
    unsigned count = o->kind == PTX_OPERAND_VEC ? o->element_count : 1;
    if (2 * count > VM_VECTOR_MOST)
        return false;
    op->bytes = 8;
    op->count = (uint8_t)(2 * count);
    op->total = (uint8_t)(16 * count);
    for (unsigned k = 0; k < 2 * count; k++) {
        const struct ptx_operand *one = &list[k / 2];
        if (one->kind != PTX_OPERAND_REG || l->regs[lower_root(l, one->reg)].kind != REG_128)
            return false;
        op->rows[k] = lower_place(l, one, PTX_B128).at + k % 2 * VM_ROW64;
        op->wide[k] = op->used[k] = true;
    }
    return true;
}

static void set_elements(struct lower *l, struct mem_op *op, const struct ptx_operand *o,
                         bool store)
{
    if (o->kind != PTX_OPERAND_VEC) {
        set_element(l, op, 0, o, store);
        return;
    }
    op->count = (uint8_t)(o->element_count < VM_VECTOR_MOST ? o->element_count : VM_VECTOR_MOST);
    op->total = (uint8_t)(op->bytes * op->count);
    for (unsigned k = 0; k < op->count; k++)
        set_element(l, op, k, &o->elements[k], store);
}

static void emit_memory(struct lower *l, struct mem_op *op)
{
    static const uint16_t LOADS[] = {VM_OP_load_8, VM_OP_load_16, VM_OP_load_32, VM_OP_load_64};
    static const uint16_t STORES[] = {VM_OP_store_8, VM_OP_store_16, VM_OP_store_32,
                                      VM_OP_store_64};
    unsigned width = op->bytes == 1 ? 0 : op->bytes == 2 ? 1 : op->bytes == 4 ? 2 : 3;
    enum vm_op handler;
    switch ((int)op->space) {
    case PTX_GENERIC:
    case PTX_GLOBAL:
        handler = op->count > 1 ? (op->write ? VM_OP_store_vector : VM_OP_load_vector)
                                : (enum vm_op)(op->write ? STORES[width] : LOADS[width]);
        if (handler == VM_OP_load_32 && op->form == VM_ADDRESS_SLOT)
            handler = VM_OP_load_32_one;
        else if (handler == VM_OP_load_32 && (op->form != VM_ADDRESS_64 || op->wide[0]))
            handler = VM_OP_load_32_long;
        if (handler == VM_OP_store_32 && (op->form != VM_ADDRESS_64 || op->wide[0]))
            handler = VM_OP_store_32_long;
        break;
    case PTX_SHARED:
    case PTX_SHARED_CLUSTER:
        if (op->count == 1 && width == 2)
            handler = op->write ? VM_OP_store_shared_32 : VM_OP_load_shared_32;
        else
            handler = op->write ? VM_OP_store_shared : VM_OP_load_shared;
        break;
    case PTX_LOCAL:
        handler = width >= 2 ? (op->write ? VM_OP_store_local : VM_OP_load_local)
                             : (op->write ? VM_OP_store_any : VM_OP_load_any);
        break;
    default: /* constants among them: the handlers above count what they read as global memory */
        handler = op->write ? VM_OP_store_any : VM_OP_load_any;
        break;
    }
    op->pc = l->main.count;
    lower_emit(l, &l->main, handler)->imm = (uint64_t)(uintptr_t)op;
}

/* ---- parameters ---- */

static void area_access(struct lower *l, const struct ptx_operand *o, uint32_t area, uint64_t at,
                        const struct ptx_instr *in, bool store)
{
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    uint32_t word = area + (uint32_t)(at / 4) * VM_ROW32;
    if (o->kind == PTX_OPERAND_SINK)
        return;
    struct insn *i;
    if (store) {
        struct place p = lower_place(l, o, (enum ptx_type)in->type);
        bool wide = o->kind == PTX_OPERAND_REG ? lower_is_wide(l, o->reg) : bytes == 8;
        uint32_t row = lower_row(l, &l->main, p, wide, 0);
        i = lower_emit(l, &l->main, VM_OP_area_store);
        i->d = word;
        i->a = row;
        i->y = wide ? 2 : 0;
    } else {
        struct result d = lower_result(l, o);
        i = lower_emit(l, &l->main, VM_OP_area_load);
        i->d = d.row;
        i->a = word;
        i->y = (ptx_type_is_signed((enum ptx_type)in->type) ? 1u : 0u) | (d.wide ? 2u : 0u);
    }
    i->x = bytes;
    i->c = (uint32_t)(at & 3);
}

/* ld.param and st.param of a function's own signature or of a call's variables. */
static bool lower_area(struct lower *l, const struct ptx_instr *in, const struct ptx_operand *value,
                       const struct ptx_operand *a)
{
    if (a->symbol < 0 || a->reg >= 0 || !l->area_at[a->symbol])
        return false;
    bool store = in->op == PTX_OP_st;
    uint32_t area = l->area_at[a->symbol];
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    uint64_t at = (uint64_t)a->imm;
    if (bytes > 8 ||
        at + (uint64_t)bytes * (in->vec ? in->vec : 1) > l->ptx->symbols[a->symbol].bytes)
        return false;
    if (value->kind != PTX_OPERAND_VEC) {
        area_access(l, value, area, at, in, store);
        return true;
    }
    for (uint32_t k = 0; k < value->element_count; k++)
        area_access(l, &value->elements[k], area, at + (uint64_t)k * bytes, in, store);
    return true;
}

/* One element of a kernel parameter at a known place: a slot of the bank. */
static void load_parameter(struct lower *l, const struct ptx_instr *in, const struct ptx_operand *o,
                           uint32_t slot)
{
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    bool is_signed = ptx_type_is_signed((enum ptx_type)in->type);
    if (o->kind != PTX_OPERAND_REG)
        return;
    struct result d = lower_result(l, o);
    uint32_t row = bytes < 4 || (d.wide && bytes == 4) ? lower_temp(0) : d.row;
    struct insn *i = lower_emit(l, d.stream, bytes == 8 ? VM_OP_spread_64 : VM_OP_spread_32);
    i->d = row;
    i->a = bytes < 4 ? slot & ~3u : slot;
    if (bytes < 4 && (slot & 3)) {
        i = lower_emit(l, d.stream, VM_OP_shr_u32_vs);
        i->d = i->a = row;
        i->b = lower_constant(l, 8ull * (slot & 3));
    }
    if (bytes < 4) {
        uint32_t to = d.wide ? row : d.row;
        i = lower_emit(l, d.stream,
                       bytes == 1 ? (is_signed ? VM_OP_sext8_32 : VM_OP_zext8_32)
                                  : (is_signed ? VM_OP_sext16_32 : VM_OP_zext16_32));
        i->d = to;
        i->a = row;
    }
    if (d.wide && bytes < 8) {
        i = lower_emit(l, d.stream, is_signed ? VM_OP_sext32_64 : VM_OP_zext32_64);
        i->d = d.row;
        i->a = row;
    }
    lower_finish(l, &d);
}

static bool lower_kernel_parameter(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *d = &in->operands[0], *a = &in->operands[1];
    if (a->reg >= 0 || a->symbol < 0 || !l->fn->is_entry ||
        l->ptx->symbols[a->symbol].is_call_param)
        return false;
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    uint64_t at = l->ptx->symbols[a->symbol].offset + (uint64_t)a->imm;
    if (bytes > 8 || at + (uint64_t)bytes * (in->vec ? in->vec : 1) > l->code->param_bytes)
        return false;
    if (d->kind == PTX_OPERAND_REG && l->regs[d->reg].direct)
        return true;
    uint32_t slot = l->code->params_at + (uint32_t)at;
    if (d->kind != PTX_OPERAND_VEC) {
        load_parameter(l, in, d, slot);
        return true;
    }
    for (uint32_t k = 0; k < d->element_count; k++)
        load_parameter(l, in, &d->elements[k], slot + k * bytes);
    return true;
}

/* ---- atomics ---- */

/* Each element is an atomic operation of its own; together they are none. */
static bool lower_vector_atomic(struct lower *l, const struct ptx_instr *in, unsigned first)
{
    const struct ptx_operand *o = in->operands, *from = &o[first + 1];
    if (from->kind != PTX_OPERAND_VEC || (first && o[0].kind != PTX_OPERAND_VEC) ||
        (first && o[0].element_count != from->element_count) ||
        from->element_count > VM_VECTOR_MOST)
        return false;
    for (unsigned k = 0; k < from->element_count; k++) {
        struct mem_op *op = new_mem_op(l, in);
        op->write = true;
        op->count = 1;
        op->total = op->bytes;
        lower_address(l, op, &o[first]);
        op->offset += (int64_t)k * op->bytes;
        op->used[0] = true;
        op->has_result = first && o[0].elements[k].kind == PTX_OPERAND_REG;
        op->answered = op->has_result && lower_is_read(l, o[0].elements[k].reg);
        if (op->has_result) {
            struct result d = lower_result(l, &o[0].elements[k]);
            op->rows[0] = d.row;
            op->wide[0] = d.wide;
        }
        struct place p = lower_place(l, &from->elements[k], (enum ptx_type)in->type);
        op->wide[1] = from->elements[k].kind == PTX_OPERAND_REG
                          ? lower_is_wide(l, from->elements[k].reg)
                          : op->bytes == 8;
        op->b = lower_row(l, &l->main, p, op->wide[1], 0);
        op->sources = 1;
        op->pc = l->main.count;
        lower_emit(l, &l->main, VM_OP_atomic)->imm = (uint64_t)(uintptr_t)op;
    }
    return true;
}

/* Does an atomic with an answer write what is there already, whatever that is? */
static bool leaves_as_it_is(struct lower *l, const struct ptx_instr *in)
{
    const struct ptx_operand *b = &in->operands[2], *c = &in->operands[3];
    uint64_t value, other;
    if (!lower_known(l, lower_place(l, b, (enum ptx_type)in->type), &value))
        return false;
    switch ((int)in->sub) {
    case PTX_ADD:
    case PTX_OR:
    case PTX_XOR:
        return value == 0 && in->type != PTX_F32 && in->type != PTX_F64;
    case PTX_CAS:
        return lower_known(l, lower_place(l, c, (enum ptx_type)in->type), &other) && value == other;
    default:
        return false;
    }
}

static bool lower_atomic(struct lower *l, const struct ptx_instr *in)
{
    unsigned first = in->op == PTX_OP_atom ? 1 : 0;
    if (in->operand_count < first + 1u || in->operands[first].kind != PTX_OPERAND_ADDR)
        return false;
    if (in->vec > 1)
        return lower_vector_atomic(l, in, first);
    bool is_long = in->type == PTX_B128;
    if (is_long && in->sub != PTX_EXCH && in->sub != PTX_CAS)
        return false;
    l->code->one_worker |= is_long;
    struct mem_op *op = new_mem_op(l, in);
    op->write = true;
    lower_address(l, op, &in->operands[first]);
    op->has_result = first == 1 && in->operands[0].kind == PTX_OPERAND_REG;
    op->used[0] = true;
    if (op->has_result) {
        struct result d = lower_result(l, &in->operands[0]);
        op->rows[0] = d.row;
        op->wide[0] = d.wide;
    }
    for (unsigned k = 0; k < 2 && first + 1u + k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operands[first + 1 + k];
        struct place p = lower_place(l, o, (enum ptx_type)in->type);
        bool wide = o->kind == PTX_OPERAND_REG ? lower_is_wide(l, o->reg) : op->bytes == 8;
        if (is_long && (o->kind != PTX_OPERAND_REG || p.slot))
            return false;
        uint64_t known;
        if (k == 0 && in->sub == PTX_ADD && in->type != PTX_F32 && lower_known(l, p, &known))
            op->combined = known == 1 && op->bytes == 4;
        uint32_t row = lower_row(l, &l->main, p, wide, k);
        op->wide[1 + k] = wide;
        *(k ? &op->c : &op->b) = row;
        op->sources = (uint8_t)(k + 1);
    }
    op->answered = op->has_result && lower_is_read(l, in->operands[0].reg);
    op->combined &= !op->answered;
    op->only_reads = op->answered && leaves_as_it_is(l, in);
    op->pc = l->main.count;
    lower_emit(l, &l->main, is_long ? VM_OP_atomic_128 : VM_OP_atomic)->imm =
        (uint64_t)(uintptr_t)op;
    return true;
}

bool lower_memory(struct lower *l, const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_ld:
    case PTX_OP_ldu:
        if (in->operands[1].kind != PTX_OPERAND_ADDR)
            return false;
        if (in->space == PTX_PARAM && (lower_kernel_parameter(l, in) ||
                                       lower_area(l, in, &in->operands[0], &in->operands[1])))
            return true;
        break;
    case PTX_OP_st:
        if (in->operands[0].kind != PTX_OPERAND_ADDR)
            return false;
        if (in->space == PTX_PARAM && lower_area(l, in, &in->operands[1], &in->operands[0]))
            return true;
        break;
    case PTX_OP_atom:
    case PTX_OP_red:
        return lower_atomic(l, in);
    case PTX_OP_prefetch:
    case PTX_OP_prefetchu:
    case PTX_OP_discard:
    case PTX_OP_applypriority:
        return true;
    case PTX_OP_createpolicy:
        if (in->operands[0].kind == PTX_OPERAND_REG) {
            struct insn *i = lower_emit(l, &l->main, VM_OP_spread_64);
            i->d = lower_result(l, &in->operands[0]).row;
            i->a = lower_constant(l, 0);
        }
        return true;
    default:
        return false;
    }
    bool store = in->op == PTX_OP_st;
    struct mem_op *op = new_mem_op(l, in);
    op->write = store;
    lower_address(l, op, &in->operands[store ? 0 : 1]);
    if (in->type != PTX_B128)
        set_elements(l, op, &in->operands[store ? 1 : 0], store);
    else if (!set_long_elements(l, op, &in->operands[store ? 1 : 0]))
        return false;
    emit_memory(l, op);
    return true;
}
