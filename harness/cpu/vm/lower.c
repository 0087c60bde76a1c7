/* Lowering: one kernel and the functions it may call -> struct vm_code. Everything ends up in one
 * array, the entry first, so that a pc is one number. */
#include "cpu/vm/lower.h"

#include <stdlib.h>
#include <string.h>

/* ---- streams, slots, constants ---- */

struct insn *lower_emit(struct lower *l, struct stream *s, enum vm_op op)
{
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? 2 * s->capacity : 256;
        struct insn *insns = realloc(s->insns, capacity * sizeof *insns);
        const struct ptx_instr **origins = realloc(s->origins, capacity * sizeof(void *));
        if (!insns || !origins)
            BUG("out of memory for %u instructions", capacity);
        s->insns = insns;
        s->origins = origins;
        s->capacity = capacity;
    }
    s->origins[s->count] = l->in;
    struct insn *i = &s->insns[s->count++];
    *i = (struct insn){.run = l->code->exec->handlers[op]};
    return i;
}

struct stream *lower_stream(struct lower *l, enum vm_level level)
{
    return level == VM_VARYING ? &l->main : &l->setup[level];
}

uint32_t lower_slot(struct lower *l, uint32_t bytes)
{
    uint32_t at = l->bank_bytes;
    l->bank_bytes += (bytes + 7) & ~7u;
    if (l->bank_bytes + 64 > l->bank_capacity) {
        uint32_t capacity = 2 * l->bank_bytes + 1024;
        l->bank = realloc(l->bank, capacity);
        if (!l->bank)
            BUG("out of memory for %u bytes of constants", capacity);
        memset(l->bank + l->bank_capacity, 0, capacity - l->bank_capacity);
        l->bank_capacity = capacity;
    }
    return at;
}

static void grow_constants(struct lower *l)
{
    uint32_t old = l->constant_capacity;
    struct constant *list = l->constants;
    l->constant_capacity = old ? 2 * old : 64;
    l->constants = arena_array(&l->scratch, l->constant_capacity, sizeof *l->constants);
    for (uint32_t k = 0; k < old; k++) {
        if (!list[k].at)
            continue;
        uint64_t at = list[k].value * 0x9e3779b97f4a7c15u >> 32;
        while (l->constants[at & (l->constant_capacity - 1)].at)
            at++;
        l->constants[at & (l->constant_capacity - 1)] = list[k];
    }
}

uint32_t lower_constant(struct lower *l, uint64_t value)
{
    if (2 * l->constant_count >= l->constant_capacity)
        grow_constants(l);
    uint64_t at = value * 0x9e3779b97f4a7c15u >> 32;
    for (;; at++) {
        struct constant *c = &l->constants[at & (l->constant_capacity - 1)];
        if (!c->at) {
            c->value = value;
            c->at = lower_slot(l, 8);
            memcpy(l->bank + c->at, &value, 8);
            l->constant_count++;
            return c->at;
        }
        if (c->value == value)
            return c->at;
    }
}

bool lower_known(const struct lower *l, struct place p, uint64_t *value)
{
    for (uint32_t k = 0; p.slot && k < l->constant_capacity; k++)
        if (l->constants[k].at == p.at) {
            *value = l->constants[k].value;
            return true;
        }
    return false;
}

uint32_t lower_temp(unsigned t)
{
    return FRAME_TEMP + t * VM_ROW64;
}

uint32_t lower_pred_temp(const struct lower *l, unsigned t)
{
    return l->flag + 4 + 4 * t;
}

/* ---- places ---- */

static struct place sreg_place(struct lower *l, enum ptx_sreg s)
{
    switch ((int)s) {
    case PTX_SREG_reserved_smem_begin:
        return (struct place){.slot = true, .at = lower_constant(l, 0)};
    case PTX_SREG_reserved_smem_end:
    case PTX_SREG_reserved_smem_cap:
        return (struct place){.slot = true, .at = lower_constant(l, VM_SHARED_START)};
    case PTX_SREG_reserved_smem_0:
        return (struct place){.slot = true, .at = lower_constant(l, VM_RESERVED_0)};
    case PTX_SREG_reserved_smem_1:
        return (struct place){.slot = true, .at = lower_constant(l, VM_RESERVED_1)};
    case PTX_SREG_tid_x:
    case PTX_SREG_tid_y:
    case PTX_SREG_tid_z:
    case PTX_SREG_laneid:
    case PTX_SREG_warpid:
    case PTX_SREG_lanemask_eq:
    case PTX_SREG_lanemask_lt:
    case PTX_SREG_lanemask_le:
    case PTX_SREG_lanemask_gt:
    case PTX_SREG_lanemask_ge:
        break;
    default:
        if (!l->code->sreg_slots[s])
            l->code->sreg_slots[s] = lower_slot(l, 8);
        return (struct place){.slot = true, .at = l->code->sreg_slots[s]};
    }
    /* In a callee the row would have to be passed along: frames of the entry keep it. */
    if (!l->fn->is_entry) {
        struct insn *i = lower_emit(l, &l->main, VM_OP_sreg_row);
        i->d = lower_temp(3);
        i->x = s;
        return (struct place){.at = lower_temp(3)};
    }
    for (uint32_t k = 0; k < l->code->sreg_row_count; k++)
        if (l->code->sreg_rows[k].sreg == s)
            return (struct place){.at = l->code->sreg_rows[k].offset};
    struct sreg_row *row = &l->code->sreg_rows[l->code->sreg_row_count++];
    *row = (struct sreg_row){.sreg = (uint16_t)s, .offset = l->frame};
    l->frame += VM_ROW32;
    return (struct place){.at = row->offset};
}

bool lower_is_clock(enum ptx_sreg s)
{
    return s == PTX_SREG_clock || s == PTX_SREG_clock_hi || s == PTX_SREG_clock64 ||
           s == PTX_SREG_globaltimer || s == PTX_SREG_globaltimer_lo ||
           s == PTX_SREG_globaltimer_hi;
}

static uint64_t immediate(const struct ptx_operand *o, enum ptx_type type)
{
    uint64_t bits = (uint64_t)o->imm;
    if (o->imm_type == PTX_F64 && type == PTX_F32) {
        union {
            uint64_t bits;
            double x;
        } wide = {.bits = bits};
        union {
            float x;
            uint32_t bits;
        } narrow = {.x = (float)wide.x};
        return narrow.bits;
    }
    /* Of a narrower type, only its bytes: equal constants share a slot. */
    unsigned bytes = ptx_type_bytes(type);
    return bytes && bytes < 8 ? bits & ((1ull << (8 * bytes)) - 1) : bits;
}

uint64_t lower_symbol_address(struct lower *l, int32_t symbol)
{
    const struct ptx_symbol *s = &l->ptx->symbols[symbol];
    uint64_t window = l->module->vm->window;
    switch ((enum ptx_space)s->space) {
    case PTX_SHARED:
    case PTX_SHARED_CLUSTER:
        return l->shared_at[symbol];
    case PTX_LOCAL:
        return VM_LOCAL_START + s->offset;
    case PTX_PARAM:
        return window + VM_PARAM_OFFSET + s->offset;
    case PTX_GLOBAL:
    case PTX_CONST:
    case PTX_GENERIC:
        break;
    }
    return l->module->addresses[symbol];
}

struct place lower_place(struct lower *l, const struct ptx_operand *o, enum ptx_type type)
{
    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_OPERAND_REG:
        return l->regs[lower_root(l, o->reg)].place;
    case PTX_OPERAND_IMM:
        return (struct place){.slot = true, .at = lower_constant(l, immediate(o, type))};
    case PTX_OPERAND_SREG:
        if (lower_is_clock((enum ptx_sreg)o->imm)) {
            struct insn *i = lower_emit(l, &l->main, VM_OP_clock);
            i->d = lower_temp(3);
            i->x = (uint32_t)o->imm;
            i->b = l->block;
            i->a = l->main.insns[l->block].a;
            i->y = ptx_type_bytes(type) == 8;
            return (struct place){.at = lower_temp(3)};
        }
        return sreg_place(l, (enum ptx_sreg)o->imm);
    case PTX_OPERAND_SYMBOL: {
        const struct ptx_symbol *s = &l->ptx->symbols[o->symbol];
        uint64_t address = lower_symbol_address(l, o->symbol) + (uint64_t)o->imm;
        if (s->space == PTX_LOCAL && !l->fn->is_entry) {
            struct insn *i = lower_emit(l, &l->main, VM_OP_add_64_vs);
            i->d = lower_temp(3);
            i->a = FRAME_LOCAL_BASE;
            i->b = lower_constant(l, address - VM_LOCAL_START);
            return (struct place){.at = lower_temp(3)};
        }
        return (struct place){.slot = true, .at = lower_constant(l, address)};
    }
    case PTX_OPERAND_FUNC:
        return (struct place){.slot = true,
                              .at = lower_constant(l, l->module->vm->window + VM_CODE_OFFSET +
                                                          16 * (uint64_t)o->imm)};
    case PTX_OPERAND_ADDR:
    case PTX_OPERAND_VEC:
    case PTX_OPERAND_LABEL:
    case PTX_OPERAND_SINK:
        break;
    }
    return (struct place){.slot = true, .at = lower_constant(l, 0)};
}

uint32_t lower_row(struct lower *l, struct stream *s, struct place p, bool wide, unsigned t)
{
    if (!p.slot)
        return p.at;
    struct insn *i = lower_emit(l, s, wide ? VM_OP_spread_64 : VM_OP_spread_32);
    i->d = lower_temp(t);
    i->a = p.at;
    return lower_temp(t);
}

bool lower_is_wide(const struct lower *l, int32_t reg)
{
    return l->regs[reg].kind == REG_64;
}

uint32_t lower_pred(struct lower *l, int32_t reg)
{
    return l->regs[lower_root(l, reg)].place.at;
}

struct result lower_result(struct lower *l, const struct ptx_operand *o)
{
    struct result r = {.stream = &l->main, .row = lower_temp(3)};
    if (o->kind != PTX_OPERAND_REG)
        return r;
    const struct reg_info *info = &l->regs[lower_root(l, o->reg)];
    r.wide = info->kind == REG_64;
    r.stream = lower_stream(l, (enum vm_level)info->level);
    if (info->place.slot) {
        r.extract = true;
        r.slot = info->place.at;
    } else {
        r.row = info->place.at;
    }
    return r;
}

void lower_finish(struct lower *l, const struct result *r)
{
    if (!r->extract)
        return;
    struct insn *i = lower_emit(l, r->stream, r->wide ? VM_OP_extract_64 : VM_OP_extract_32);
    i->d = r->slot;
    i->a = r->row;
}

void lower_unsupported(struct lower *l)
{
    lower_emit(l, &l->main, VM_OP_trap)->a = 1;
}

void lower_jump(struct lower *l, uint32_t at, uint32_t target)
{
    if (l->fixup_count == l->fixup_capacity) {
        l->fixup_capacity = l->fixup_capacity ? 2 * l->fixup_capacity : 64;
        l->fixups = realloc(l->fixups, l->fixup_capacity * sizeof *l->fixups);
        if (!l->fixups)
            BUG("out of memory for %u jumps", l->fixup_capacity);
    }
    l->fixups[l->fixup_count++] = (struct fixup){.at = at, .target = target};
}

void lower_table_entry(struct lower *l, uint32_t *entry)
{
    if (l->table_count == l->table_capacity) {
        l->table_capacity = l->table_capacity ? 2 * l->table_capacity : 64;
        l->tables = realloc(l->tables, l->table_capacity * sizeof *l->tables);
        if (!l->tables)
            BUG("out of memory for %u table entries", l->table_capacity);
    }
    l->tables[l->table_count++] = entry;
}

bool lower_is_read(const struct lower *l, int32_t reg)
{
    return l->regs[reg].reads > 0;
}

/* ---- functions ---- */

static void mark_leaders(struct lower *l)
{
    uint32_t n = l->fn->instr_count;
    l->leader = arena_array(&l->scratch, n + 1, sizeof *l->leader);
    l->leader[0] = l->leader[n] = true;
    for (uint32_t k = 0; k < n; k++) {
        const struct ptx_instr *in = &l->fn->instrs[k];
        if (lower_ends_block(in) || (in->guard >= 0 && lower_is_control(in)))
            l->leader[k + 1] = true;
        if (l->fine && lower_is_access(in))
            l->leader[k] = true;
        if (in->op == PTX_OP_bra && in->operands[0].kind == PTX_OPERAND_LABEL)
            l->leader[in->operands[0].imm] = true;
        if (in->op == PTX_OP_brx)
            for (uint32_t t = 0; t < in->operands[1].element_count; t++)
                l->leader[in->operands[1].elements[t].imm] = true;
    }
}

static uint32_t words_of(uint64_t bytes)
{
    return (uint32_t)((bytes + 3) / 4);
}

/* Parameter areas of a callee's signature, results first, each of whole rows. Callers know the
 * layout from the signature alone. */
static void place_areas(struct lower *l)
{
    l->area_at = arena_array(&l->scratch, l->ptx->symbol_count + 1, sizeof *l->area_at);
    l->frame = FRAME_START;
    for (uint32_t k = 0; !l->fn->is_entry && k < l->fn->result_count; k++) {
        l->area_at[l->fn->results[k]] = l->frame;
        l->frame += words_of(l->ptx->symbols[l->fn->results[k]].bytes) * VM_ROW32;
    }
    for (uint32_t k = 0; !l->fn->is_entry && k < l->fn->param_count; k++) {
        l->area_at[l->fn->params[k]] = l->frame;
        l->frame += words_of(l->ptx->symbols[l->fn->params[k]].bytes) * VM_ROW32;
    }
    for (uint32_t s = 0; s < l->ptx->symbol_count; s++) {
        const struct ptx_symbol *p = &l->ptx->symbols[s];
        if (p->function != (int32_t)l->function_index || !p->is_call_param)
            continue;
        l->area_at[s] = l->frame;
        l->frame += words_of(p->bytes) * VM_ROW32;
    }
}

/* One PTX instruction. A guard becomes a mask for the instruction, or a branch around it where
 * lanes may part or wait inside. */
static void lower_one(struct lower *l, const struct ptx_instr *in)
{
    bool handled_guard = in->op == PTX_OP_bra || in->guard < 0;
    uint32_t guard_at = 0;
    bool around = !handled_guard && lower_is_control(in);
    if (!handled_guard) {
        guard_at = l->main.count;
        struct insn *i = lower_emit(l, &l->main, around ? VM_OP_bra_over : VM_OP_guard);
        i->a = lower_pred(l, in->guard);
        i->b = (in->guard_negated != around) ? VM_FULL : 0;
        if (around)
            lower_jump(l, guard_at, l->index + 1);
        if (l->additions[l->index]) {
            lower_emit(l, &l->main, VM_OP_additions)->x = l->additions[l->index];
            lower_guard_point(l);
        }
    }
    if (l->fine)
        lower_publish(l, in);
    if (!lower_flow(l, in) && !lower_memory(l, in) && !lower_async(l, in) && !lower_matrix(l, in) &&
        !lower_stack(l, in) && !lower_alu(l, in))
        lower_unsupported(l);
    if (!handled_guard && !around) {
        l->main.insns[guard_at].x = l->main.count - guard_at;
        lower_emit(l, &l->main, VM_OP_unguard);
    }
}

static void lower_function(struct lower *l, uint32_t index)
{
    l->function_index = index;
    l->fn = &l->ptx->functions[index];
    l->out = &l->code->functions[index];
    l->in = NULL;
    uint32_t n = l->fn->instr_count;
    l->regs = arena_array(&l->scratch, l->fn->reg_count + 1, sizeof *l->regs);
    l->head = arena_array(&l->scratch, n + 1, sizeof *l->head);
    l->fixup_count = 0;
    mark_leaders(l);
    place_areas(l);
    l->out->ptx = l->fn;
    l->out->entry = l->main.count;
    l->out->local_bytes = ((uint32_t)l->fn->local_bytes + 15) & ~15u;
    lower_analyse(l);
    lower_find_additions(l);
    l->more_temps = l->frame;
    l->frame += (VM_VECTOR_MOST - 3) * VM_ROW64;
    l->stack_used = 0;
    if (lower_has_stack(l->fn)) {
        l->stack_used = (l->frame + 63) & ~63u;
        l->frame = l->stack_used + VM_ROW64;
        l->out->local_bytes += l->out->local_bytes ? 0 : 16; /* there is local memory */
        lower_start_stack(l);
    }
    l->out->frame_bytes = (l->frame + 255) & ~255u;
    for (uint32_t k = 0; k < n; k++) {
        l->index = k;
        l->in = &l->fn->instrs[k];
        if (l->leader[k]) {
            l->block = l->head[k] = l->main.count;
            lower_emit(l, &l->main, VM_OP_block)->b = l->block;
            lower_block_point(l);
        }
        l->main.insns[l->block].a++;
        l->main.insns[l->block].imm += 1;
        if (l->in->guard < 0)
            l->main.insns[l->block].imm += (uint64_t)l->additions[k] << 32;
        l->code->static_instructions++;
        lower_one(l, l->in);
    }
    l->in = NULL;
    l->head[n] = l->main.count;
    lower_emit(l, &l->main, VM_OP_block)->b = l->main.count - 1;
    lower_emit(l, &l->main, l->fn->is_entry ? VM_OP_exit : VM_OP_ret);
    for (uint32_t k = 0; k < l->fixup_count; k++)
        l->main.insns[l->fixups[k].at].x = l->head[l->fixups[k].target] - l->fixups[k].at;
    for (uint32_t k = 0; k < l->table_count; k++)
        *l->tables[k] = l->head[*l->tables[k]];
    l->table_count = 0;
    lower_find_spins(l);
}

static void finish_code(struct lower *l)
{
    struct vm_code *c = l->code;
    c->insn_count = l->main.count;
    c->insns = arena_array(&c->arena, c->insn_count + 1, sizeof *c->insns);
    c->origins = arena_array(&c->arena, c->insn_count + 1, sizeof(void *));
    memcpy(c->insns, l->main.insns, c->insn_count * sizeof *c->insns);
    memcpy(c->origins, l->main.origins, c->insn_count * sizeof(void *));
    for (int k = 0; k < 3; k++) {
        lower_emit(l, &l->setup[k], VM_OP_end);
        c->setup[k] = arena_array(&c->arena, l->setup[k].count, sizeof *c->setup[k]);
        memcpy(c->setup[k], l->setup[k].insns, l->setup[k].count * sizeof *c->setup[k]);
        free(l->setup[k].insns);
        free(l->setup[k].origins);
    }
    c->bank = arena_alloc(&c->arena, l->bank_bytes + 64);
    memcpy(c->bank, l->bank, l->bank_bytes);
    c->bank_bytes = l->bank_bytes;
    const struct code_function *entry = &c->functions[l->kernel->function_index];
    c->frame_bytes = entry->frame_bytes;
    lower_finish_points(l);
    c->local_bytes = entry->local_bytes;
    lower_fuse(c);
    free(l->main.insns);
    free(l->main.origins);
    free(l->bank);
    free(l->fixups);
    free(l->tables);
}

struct vm_code *vm_lower(const struct vm_kernel *kernel, const struct vm_exec *exec, unsigned kind)
{
    struct vm_code *c = calloc(1, sizeof *c);
    if (!c)
        BUG("out of memory for a kernel");
    struct lower l = {.kernel = kernel,
                      .module = kernel->module,
                      .ptx = &kernel->module->ptx,
                      .code = c,
                      .fine = kind & VM_CODE_FINE,
                      .profiled = kind & VM_CODE_PROFILED};
    uint32_t functions = l.ptx->function_count;
    c->exec = exec;
    c->module = kernel->module;
    c->functions = arena_array(&c->arena, functions + 1, sizeof *c->functions);
    c->sreg_rows = arena_array(&c->arena, PTX_SREG_COUNT, sizeof *c->sreg_rows);
    for (uint32_t f = 0; f < functions; f++)
        c->functions[f].entry = VM_NO_PC;
    l.shared_at = arena_array(&l.scratch, l.ptx->symbol_count + 1, sizeof *l.shared_at);
    bool *found = arena_array(&l.scratch, functions + 1, sizeof *found);
    lower_find_wanted(l.ptx, kernel->function_index, found);
    lower_place_shared(&l, found);
    lower_slot(&l, 8); /* offset 0 means "no slot" */
    c->param_bytes = (uint32_t)kernel->function->param_bytes;
    c->params_at = lower_slot(&l, c->param_bytes + 16);
    lower_function(&l, kernel->function_index);
    for (uint32_t f = 0; f < functions; f++)
        if (found[f] && f != kernel->function_index)
            lower_function(&l, f);
    finish_code(&l);
    arena_release(&l.scratch);
    return c;
}

void vm_code_free(struct vm_code *code)
{
    if (!code)
        return;
    arena_release(&code->arena);
    free(code);
}
