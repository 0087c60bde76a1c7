/* What is known about a function before its instructions are lowered.
 *
 * A register with one unguarded definition has the same meaning wherever it is read (what nvcc
 * prints is SSA apart from the registers that stand for phis). From that follow
 *   copies   a plain mov of such a register is that register;
 *   levels   a pure operation on operands that cannot change gives a value that cannot change: it
 *            is computed once per launch, per block, or per warp slot (enum vm_level). It may be
 *            computed where the program would not have reached it, which does no harm.
 * The other registers get rows of the frame by linear scan over live ranges (Poletto and Sarkar,
 * TOPLAS 1999), without holes: a range covers every instruction at which the register is live in
 * some lane. */
#include "cpu/vm/lower.h"

#include <stdlib.h>
#include <string.h>

/* Rows that values of level VM_PER_WARP may occupy for good; the frame has to stay in the cache. */
enum { KEPT_ROWS = 32 };

static unsigned destinations(const struct ptx_instr *in)
{
    switch ((int)in->op) {
    case PTX_OP_st:
    case PTX_OP_red:
    case PTX_OP_bra:
    case PTX_OP_brx:
    case PTX_OP_call:
    case PTX_OP_cp:
    case PTX_OP_nanosleep:
    case PTX_OP_prefetch:
    case PTX_OP_prefetchu:
    case PTX_OP_discard:
    case PTX_OP_applypriority:
    case PTX_OP_setmaxnreg:
    case PTX_OP_stackrestore:
    case PTX_OP_stmatrix:
    case PTX_OP_pmevent:
    case PTX_OP_unknown:
        return 0;
    case PTX_OP_bar:
    case PTX_OP_barrier:
        return in->sub == PTX_AND || in->sub == PTX_OR || in->sub == PTX_POPC;
    case PTX_OP_mbarrier:
        return in->operand_count && in->operands[0].kind != PTX_OPERAND_ADDR;
    default:
        return in->operand_count > 0;
    }
}

static void visit(struct lower *l, const struct ptx_operand *o, bool written, lower_visit *f,
                  void *context)
{
    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_OPERAND_REG:
        if (o->reg >= 0)
            f(l, o->reg, written, context);
        if (o->reg2 >= 0)
            f(l, o->reg2, written, context);
        break;
    case PTX_OPERAND_ADDR:
        if (o->reg >= 0)
            f(l, o->reg, false, context);
        break;
    case PTX_OPERAND_VEC:
        for (uint32_t k = 0; k < o->element_count; k++)
            visit(l, &o->elements[k], written, f, context);
        break;
    case PTX_OPERAND_IMM:
    case PTX_OPERAND_SREG:
    case PTX_OPERAND_SYMBOL:
    case PTX_OPERAND_LABEL:
    case PTX_OPERAND_FUNC:
    case PTX_OPERAND_SINK:
        break;
    }
}

void lower_registers(struct lower *l, const struct ptx_instr *in, lower_visit *f, void *context)
{
    unsigned written = destinations(in);
    for (unsigned k = 0; k < in->operand_count; k++)
        visit(l, &in->operands[k], k < written, f, context);
    if (in->guard >= 0)
        f(l, in->guard, false, context);
}

/* ---- definitions ---- */

static enum reg_class class_of(enum ptx_type type)
{
    if (type == PTX_PRED)
        return REG_PRED;
    unsigned bytes = ptx_type_bytes(type);
    return bytes == 16 ? REG_128 : bytes == 8 ? REG_64 : REG_32;
}

static void count_definition(struct lower *l, int32_t reg, bool written, void *context)
{
    const struct ptx_instr *in = context;
    struct reg_info *r = &l->regs[reg];
    if (!written) {
        r->reads++;
        return;
    }
    r->definitions++;
    r->partial |= in->guard >= 0;
}

static bool single(const struct lower *l, int32_t reg)
{
    return l->regs[reg].definitions == 1 && !l->regs[reg].partial;
}

int32_t lower_root(const struct lower *l, int32_t reg)
{
    while (l->regs[reg].copy_of >= 0)
        reg = l->regs[reg].copy_of;
    return reg;
}

/* ---- levels and copies, in the order of the text ---- */

/* Level of a value that depends on both. Per block and per warp makes varying. */
static enum vm_level both(enum vm_level a, enum vm_level b)
{
    if (a == VM_PER_LAUNCH)
        return b;
    if (b == VM_PER_LAUNCH)
        return a;
    return a == b ? a : VM_VARYING;
}

static enum vm_level sreg_level(enum ptx_sreg s)
{
    switch ((int)s) {
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
        return VM_PER_WARP;
    case PTX_SREG_ctaid_x:
    case PTX_SREG_ctaid_y:
    case PTX_SREG_ctaid_z:
    case PTX_SREG_clusterid_x:
    case PTX_SREG_clusterid_y:
    case PTX_SREG_clusterid_z:
    case PTX_SREG_smid:
        return VM_PER_BLOCK;
    case PTX_SREG_clock:
    case PTX_SREG_clock_hi:
    case PTX_SREG_clock64:
    case PTX_SREG_globaltimer:
    case PTX_SREG_globaltimer_lo:
    case PTX_SREG_globaltimer_hi:
        return VM_VARYING;
    default:
        return VM_PER_LAUNCH;
    }
}

static enum vm_level operand_level(struct lower *l, const struct ptx_operand *o)
{
    switch ((int)o->kind) {
    case PTX_OPERAND_REG: {
        const struct reg_info *r = &l->regs[lower_root(l, o->reg)];
        return r->known_level ? (enum vm_level)r->level : VM_VARYING;
    }
    case PTX_OPERAND_IMM:
    case PTX_OPERAND_FUNC:
        return VM_PER_LAUNCH;
    case PTX_OPERAND_SREG:
        return sreg_level((enum ptx_sreg)o->imm);
    case PTX_OPERAND_SYMBOL: {
        const struct ptx_symbol *s = &l->ptx->symbols[o->symbol];
        bool in_frame = s->space == PTX_LOCAL || s->space == PTX_PARAM;
        return in_frame && !l->fn->is_entry ? VM_VARYING : VM_PER_LAUNCH;
    }
    case PTX_OPERAND_VEC: {
        enum vm_level level = VM_PER_LAUNCH;
        for (uint32_t k = 0; k < o->element_count; k++)
            level = both(level, operand_level(l, &o->elements[k]));
        return level;
    }
    default:
        return VM_VARYING;
    }
}

/* Reads a kernel parameter of 4 or 8 bytes at a known place into a register of that size. */
static bool is_plain_parameter(struct lower *l, const struct ptx_instr *in)
{
    if (in->op != PTX_OP_ld || in->space != PTX_PARAM || !l->fn->is_entry || in->vec > 1)
        return false;
    const struct ptx_operand *a = &in->operands[1];
    if (a->kind != PTX_OPERAND_ADDR || a->reg >= 0 || a->symbol < 0 ||
        l->ptx->symbols[a->symbol].is_call_param || in->operands[0].kind != PTX_OPERAND_REG)
        return false;
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    return bytes >= 4 && bytes == (lower_is_wide(l, in->operands[0].reg) ? 8u : 4u);
}

/* Does the instruction give its operand unchanged, in a register of the same size? */
static bool is_copy(struct lower *l, const struct ptx_instr *in)
{
    if (in->operand_count != 2 || in->operands[0].kind != PTX_OPERAND_REG ||
        in->operands[1].kind == PTX_OPERAND_VEC)
        return false;
    const struct ptx_operand *from = &in->operands[1];
    const struct reg_info *to = &l->regs[in->operands[0].reg];
    if (from->kind == PTX_OPERAND_REG && l->regs[from->reg].kind != to->kind)
        return false;
    unsigned bytes = ptx_type_bytes((enum ptx_type)in->type);
    switch ((int)in->op) {
    case PTX_OP_mov:
        return !from->negated;
    case PTX_OP_cvta:
        return in->space == PTX_GLOBAL || in->space == PTX_CONST || in->space == PTX_PARAM;
    case PTX_OP_cvt:
        return from->kind == PTX_OPERAND_REG && !ptx_type_is_float((enum ptx_type)in->type) &&
               !ptx_type_is_float((enum ptx_type)in->src_type) && !(in->flags & PTX_F_SAT) &&
               bytes == ptx_type_bytes((enum ptx_type)in->src_type) &&
               bytes == (to->kind == REG_64 ? 8u : 4u);
    default:
        return false;
    }
}

/* Sets level, copy and place of a single definition. */
static void define(struct lower *l, const struct ptx_instr *in, unsigned *kept)
{
    const struct ptx_operand *d = &in->operands[0];
    struct reg_info *r = &l->regs[d->reg];
    if (is_plain_parameter(l, in)) {
        const struct ptx_operand *a = &in->operands[1];
        uint64_t at = l->ptx->symbols[a->symbol].offset + (uint64_t)a->imm;
        if (at + 8 <= l->code->param_bytes + 8ull) {
            r->level = VM_PER_LAUNCH;
            r->known_level = r->placed = r->direct = true;
            r->place = (struct place){.slot = true, .at = l->code->params_at + (uint32_t)at};
            return;
        }
    }
    if (!lower_is_pure(in))
        return;
    enum vm_level level = VM_PER_LAUNCH;
    for (unsigned k = 1; k < in->operand_count; k++)
        level = both(level, operand_level(l, &in->operands[k]));
    if (is_copy(l, in)) {
        const struct ptx_operand *from = &in->operands[1];
        /* Registers that are copies of each other and of nothing else were never written. */
        if (from->kind == PTX_OPERAND_REG && single(l, from->reg) &&
            lower_root(l, from->reg) != d->reg) {
            r->copy_of = from->reg;
            r->known_level = true;
            r->level = l->regs[lower_root(l, from->reg)].level;
            return;
        }
        /* The rows of special registers and the slots of constants are values like any other. */
        bool direct = from->kind == PTX_OPERAND_IMM || from->kind == PTX_OPERAND_SYMBOL ||
                      from->kind == PTX_OPERAND_SREG;
        if (direct && r->kind != REG_PRED && r->kind != REG_128 && level != VM_VARYING &&
            (l->fn->is_entry || level != VM_PER_WARP) &&
            !(from->kind == PTX_OPERAND_SREG && r->kind == REG_64)) {
            r->known_level = r->placed = r->direct = true;
            r->level = level;
            r->place = lower_place(l, from, (enum ptx_type)in->type);
            return;
        }
    }
    if (d->reg2 >= 0 || r->kind == REG_128)
        return;
    if (r->kind == REG_PRED)
        level = both(level, VM_PER_WARP); /* predicates live in frames */
    unsigned rows = r->kind == REG_64 ? 2 : r->kind == REG_32 ? 1 : 0;
    if (level == VM_VARYING || (level == VM_PER_WARP && *kept + rows > KEPT_ROWS))
        return;
    if (!l->fn->is_entry && level == VM_PER_WARP)
        return; /* frames of callees are reused */
    r->known_level = true;
    r->level = level;
    if (level == VM_PER_WARP)
        *kept += rows;
}

static void find_levels(struct lower *l)
{
    unsigned kept = 0;
    for (uint32_t k = 0; k < l->fn->instr_count; k++) {
        const struct ptx_instr *in = &l->fn->instrs[k];
        if (in->guard >= 0 || in->operand_count == 0 || in->operands[0].kind != PTX_OPERAND_REG ||
            destinations(in) == 0)
            continue;
        if (single(l, in->operands[0].reg))
            define(l, in, &kept);
    }
}

/* ---- live ranges ---- */

struct blocks {
    uint32_t count;
    uint32_t *first;          /* PTX instruction; first[count] = the end */
    uint32_t *of;             /* block of an instruction */
    uint64_t *in, *use, *def; /* count x words */
    uint32_t words;
    uint32_t *index; /* register -> bit, or ~0 */
    uint32_t *reg;   /* bit -> register */
    uint32_t bits;
};

static uint32_t next_block(const struct blocks *b, uint32_t block)
{
    return block + 1 < b->count ? block + 1 : ~0u;
}

struct scan {
    struct blocks *b;
    uint64_t *use, *def;
    bool guarded;
};

static void note_use_and_def(struct lower *l, int32_t reg, bool written, void *context)
{
    struct scan *s = context;
    uint32_t bit = s->b->index[lower_root(l, reg)];
    if (bit == ~0u)
        return;
    uint64_t mask = 1ull << (bit & 63), *def = &s->def[bit / 64], *use = &s->use[bit / 64];
    if (written && !s->guarded)
        *def |= mask;
    else if (!(*def & mask))
        *use |= mask;
}

struct pass {
    lower_visit *f;
    void *context;
    bool written;
};

static void only(struct lower *l, int32_t reg, bool written, void *context)
{
    struct pass *p = context;
    if (written == p->written)
        p->f(l, reg, written, p->context);
}

static void reads_then_writes(struct lower *l, const struct ptx_instr *in, struct scan *s)
{
    struct pass p = {.f = note_use_and_def, .context = s, .written = false};
    s->guarded = in->guard >= 0;
    lower_registers(l, in, only, &p);
    p.written = true;
    lower_registers(l, in, only, &p);
}

static void find_blocks(struct lower *l, struct blocks *b)
{
    uint32_t n = l->fn->instr_count;
    b->of = arena_array(&l->scratch, n + 1, sizeof *b->of);
    for (uint32_t k = 0; k < n; k++)
        b->count += l->leader[k];
    b->first = arena_array(&l->scratch, b->count + 1, sizeof *b->first);
    uint32_t at = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (l->leader[k])
            b->first[at++] = k;
        b->of[k] = at - 1;
    }
    b->first[b->count] = n;
    b->index = arena_array(&l->scratch, l->fn->reg_count + 1, sizeof *b->index);
    b->reg = arena_array(&l->scratch, l->fn->reg_count + 1, sizeof *b->reg);
    for (uint32_t r = 0; r < l->fn->reg_count; r++) {
        const struct reg_info *info = &l->regs[r];
        bool scanned = info->kind != REG_PRED && info->copy_of < 0 && !info->placed &&
                       info->level == VM_VARYING;
        b->index[r] = scanned ? b->bits : ~0u;
        if (scanned)
            b->reg[b->bits++] = r;
    }
    b->words = b->bits / 64 + 1;
    size_t words = (size_t)b->count * b->words;
    b->in = arena_array(&l->scratch, words, sizeof *b->in);
    b->use = arena_array(&l->scratch, words, sizeof *b->use);
    b->def = arena_array(&l->scratch, words, sizeof *b->def);
    for (uint32_t block = 0; block < b->count; block++) {
        size_t row = (size_t)block * b->words;
        struct scan s = {.b = b, .use = b->use + row, .def = b->def + row};
        for (uint32_t k = b->first[block]; k < b->first[block + 1]; k++)
            reads_then_writes(l, &l->fn->instrs[k], &s);
    }
}

/* Adds to `out` what is live at the start of the block that begins at PTX instruction `target`. */
static void add_live(const struct blocks *b, uint64_t *out, uint32_t block)
{
    if (block >= b->count)
        return;
    for (uint32_t k = 0; k < b->words; k++)
        out[k] |= b->in[(size_t)block * b->words + k];
}

/* What is live after the last instruction of a block. */
static void live_out(struct lower *l, const struct blocks *b, uint32_t block, uint64_t *out)
{
    memset(out, 0, b->words * sizeof *out);
    const struct ptx_instr *last = &l->fn->instrs[b->first[block + 1] - 1];
    bool falls = true;
    if (last->op == PTX_OP_bra && last->operands[0].kind == PTX_OPERAND_LABEL) {
        add_live(b, out, b->of[last->operands[0].imm]);
        falls = last->guard >= 0;
    } else if (last->op == PTX_OP_brx) {
        const struct ptx_operand *list = &last->operands[1];
        for (uint32_t k = 0; k < list->element_count; k++)
            add_live(b, out, b->of[list->elements[k].imm]);
        falls = last->guard >= 0;
    } else if (last->op == PTX_OP_ret || last->op == PTX_OP_exit || last->op == PTX_OP_trap) {
        falls = last->guard >= 0;
    }
    if (falls)
        add_live(b, out, next_block(b, block));
}

static void solve_liveness(struct lower *l, struct blocks *b, uint64_t *out)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t block = b->count; block-- > 0;) {
            live_out(l, b, block, out);
            size_t row = (size_t)block * b->words;
            for (uint32_t k = 0; k < b->words; k++) {
                uint64_t in = b->use[row + k] | (out[k] & ~b->def[row + k]);
                changed |= in != b->in[row + k];
                b->in[row + k] = in;
            }
        }
    }
}

static void extend(struct reg_info *r, int32_t at)
{
    if (r->first > at)
        r->first = at;
    if (r->last < at)
        r->last = at;
}

static void touch(struct lower *l, int32_t reg, bool written, void *context)
{
    (void)written;
    extend(&l->regs[lower_root(l, reg)], (int32_t) * (uint32_t *)context);
}

static void extend_all(struct lower *l, const struct blocks *b, const uint64_t *set, uint32_t at)
{
    for (uint32_t word = 0; word < b->words; word++)
        for (uint64_t rest = set[word]; rest; rest &= rest - 1)
            extend(&l->regs[b->reg[word * 64 + (uint32_t)__builtin_ctzll(rest)]], (int32_t)at);
}

static void find_ranges(struct lower *l)
{
    struct blocks b = {0};
    find_blocks(l, &b);
    uint64_t *out = arena_array(&l->scratch, b.words, sizeof *out);
    solve_liveness(l, &b, out);
    for (uint32_t block = 0; block < b.count; block++) {
        extend_all(l, &b, b.in + (size_t)block * b.words, b.first[block]);
        live_out(l, &b, block, out);
        extend_all(l, &b, out, b.first[block + 1] - 1);
    }
    for (uint32_t k = 0; k < l->fn->instr_count; k++)
        lower_registers(l, &l->fn->instrs[k], touch, &k);
}

/* ---- rows ---- */

static unsigned rows_of(const struct reg_info *r)
{
    return r->kind == REG_128 ? 4 : r->kind == REG_64 ? 2 : 1;
}

static int by_start(const void *a, const void *b)
{
    const struct reg_info *const *x = a, *const *y = b;
    return (*x)->first < (*y)->first ? -1 : (*x)->first > (*y)->first;
}

/* First fit over rows of 128 bytes; free_after[row] = the last instruction that uses it. Registers
 * of one size share rows among themselves only: lanes that have parted use a row at the same time,
 * and keep out of each other's way only if a lane is at the same place in all of a row's meanings.
 */
static void assign_rows(struct lower *l, enum reg_class kind)
{
    uint32_t count = 0;
    struct reg_info **list = arena_array(&l->scratch, l->fn->reg_count + 1, sizeof(void *));
    for (uint32_t k = 0; k < l->fn->reg_count; k++) {
        struct reg_info *r = &l->regs[k];
        if (r->kind == kind && r->copy_of < 0 && !r->placed && r->level == VM_VARYING &&
            r->first <= r->last)
            list[count++] = r;
    }
    qsort(list, count, sizeof(void *), by_start);
    uint32_t rows = 0, capacity = 0;
    for (uint32_t k = 0; k < count; k++)
        capacity += rows_of(list[k]);
    int32_t *free_after = arena_array(&l->scratch, capacity + 1, sizeof *free_after);
    uint32_t base = l->frame;
    for (uint32_t k = 0; k < count; k++) {
        struct reg_info *r = list[k];
        uint32_t need = rows_of(r), at = 0;
        for (;; at += need) {
            uint32_t fit = 0;
            while (fit < need && (at + fit >= rows || free_after[at + fit] < r->first))
                fit++;
            if (fit == need)
                break;
        }
        for (uint32_t row = at; row < at + need; row++)
            free_after[row] = r->last;
        if (rows < at + need)
            rows = at + need;
        r->placed = true;
        r->place = (struct place){.at = base + at * VM_ROW32};
    }
    l->frame += rows * VM_ROW32;
}

static void place_kept(struct lower *l)
{
    for (uint32_t k = 0; k < l->fn->reg_count; k++) {
        struct reg_info *r = &l->regs[k];
        if (r->placed || r->copy_of >= 0 || r->kind == REG_PRED || r->level == VM_VARYING)
            continue;
        r->placed = true;
        if (r->level == VM_PER_WARP) {
            r->place = (struct place){.at = l->frame};
            l->frame += rows_of(r) * VM_ROW32;
        } else {
            r->place = (struct place){.slot = true, .at = lower_slot(l, 8)};
        }
    }
}

static void place_predicates(struct lower *l)
{
    uint32_t words = 1 + LOWER_PRED_TEMPS; /* the carry flag, lower_alu's own */
    l->flag = l->frame;
    for (uint32_t k = 0; k < l->fn->reg_count; k++) {
        struct reg_info *r = &l->regs[k];
        if (r->kind != REG_PRED || r->copy_of >= 0)
            continue;
        r->placed = true;
        r->place = (struct place){.at = l->frame + 4 * words++};
    }
    l->frame += (4 * words + VM_ROW32 - 1) / VM_ROW32 * VM_ROW32;
}

void lower_analyse(struct lower *l)
{
    for (uint32_t k = 0; k < l->fn->reg_count; k++)
        l->regs[k] =
            (struct reg_info){.kind = (uint8_t)class_of((enum ptx_type)l->fn->regs[k].type),
                              .level = VM_VARYING,
                              .copy_of = -1,
                              .first = INT32_MAX,
                              .last = -1};
    for (uint32_t k = 0; k < l->fn->instr_count; k++)
        lower_registers(l, &l->fn->instrs[k], count_definition, (void *)&l->fn->instrs[k]);
    find_levels(l);
    place_predicates(l);
    place_kept(l);
    find_ranges(l);
    for (enum reg_class kind = REG_32; kind <= REG_128; kind++)
        assign_rows(l, kind);
}
