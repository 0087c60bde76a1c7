/* mma, wmma, ldmatrix, stmatrix, movmatrix. The parser leaves the suffixes of the first two in the
 * text: shape, layouts and up to four types are read from there. What has another layout of
 * fragments than matrix.h describes (m8n8k4 of f16, sparse and scaled forms, floats of 4, 6 or 8
 * bits) is refused. */
#include "cpu/vm/lower.h"
#include "cpu/vm/matrix.h"

#include <stdio.h>
#include <string.h>

struct words { /* what the text of an opcode says */
    unsigned m, n, k, type_count;
    enum matrix_type types[4];
    char role;                  /* of wmma.load and .store */
    bool load, store, multiply; /* wmma */
    bool column, saturates, uses_and, strange;
};

static bool is(const char *s, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(s, word, n) == 0;
}

static bool read_type(struct words *out, const char *s, size_t n)
{
    static const char *const NAMES[MATRIX_TYPE_COUNT] = {"f16", "bf16", "tf32", "f32", "f64", "s32",
                                                         "s8",  "u8",   "s4",   "u4",  "b1"};
    for (unsigned t = 0; t < MATRIX_TYPE_COUNT; t++) {
        if (!is(s, n, NAMES[t]))
            continue;
        if (out->type_count < 4)
            out->types[out->type_count] = (enum matrix_type)t;
        out->type_count++;
        return true;
    }
    return false;
}

static void read_word(struct words *out, const char *s, size_t n, unsigned index)
{
    static const char *const PLAIN[] = {"sync", "aligned", "row", "global", "shared", "shared::cta",
                                        "popc", "xor",     "rn",  "mma",    "wmma",   ""};
    char shape[32];
    snprintf(shape, sizeof shape, "%.*s", (int)(n < 31 ? n : 31), s);
    if (sscanf(shape, "m%un%uk%u", &out->m, &out->n, &out->k) == 3 || read_type(out, s, n))
        return;
    if (index == 1 && is(s, n, "load"))
        out->load = true;
    else if (index == 1 && is(s, n, "store"))
        out->store = true;
    else if (index == 2 && n == 1)
        out->role = *s;
    else if (is(s, n, "col"))
        out->column = true;
    else if (is(s, n, "satfinite"))
        out->saturates = true;
    else if (is(s, n, "and"))
        out->uses_and = true;
    else {
        bool known = false;
        for (size_t k = 0; k < sizeof PLAIN / sizeof *PLAIN; k++)
            known |= is(s, n, PLAIN[k]);
        out->strange |= !known;
    }
}

static struct words read_text(const char *text)
{
    struct words w = {0};
    unsigned index = 0;
    for (const char *s = text; *s; index++) {
        size_t n = strcspn(s, ".");
        read_word(&w, s, n, index);
        s += n + (s[n] == '.');
    }
    return w;
}

/* The registers of an operand; 0 = there are too many, or what is none. */
static bool set_part(struct lower *l, struct matrix_part *p, const struct ptx_operand *o,
                     enum matrix_type type, bool destination)
{
    const struct ptx_operand *list = o->kind == PTX_OPERAND_VEC ? o->elements : o;
    unsigned count = o->kind == PTX_OPERAND_VEC ? o->element_count : 1;
    bool wide = type == MATRIX_F64;
    if (count == 0 || count > MATRIX_REGISTERS)
        return false;
    p->type = (uint8_t)type;
    p->count = (uint8_t)count;
    for (unsigned k = 0; k < count; k++) {
        if (list[k].kind != PTX_OPERAND_REG && (destination || list[k].kind != PTX_OPERAND_IMM))
            return false;
        if (list[k].kind == PTX_OPERAND_REG && lower_is_wide(l, list[k].reg) != wide)
            return false;
        struct place at = {0};
        if (destination)
            at.at = lower_result(l, &list[k]).row;
        else
            at = lower_place(l, &list[k], wide ? PTX_F64 : type == MATRIX_F32 ? PTX_F32 : PTX_B32);
        p->slot[k] = at.slot;
        p->at[k] = at.at;
    }
    return true;
}

static bool set_memory(struct lower *l, struct matrix_op *op, const struct ptx_instr *in,
                       const struct ptx_operand *a, unsigned bytes, bool write)
{
    if (a->kind != PTX_OPERAND_ADDR)
        return false;
    lower_mem_op(l, &op->memory, in);
    op->memory.write = write;
    op->memory.count = 1;
    op->memory.bytes = op->memory.total = (uint8_t)bytes;
    op->memory.used_bytes = ~0u;
    op->memory.strength = VM_PLAIN;
    lower_address(l, &op->memory, a);
    /* lower_address() may use temporary 2, which nothing else here writes. */
    return true;
}

/* Do the registers of a and b hold what the shape says, and does d? */
static bool fits(const struct matrix_op *op)
{
    const struct matrix_part *parts[] = {&op->a, &op->b, &op->c, &op->d};
    const unsigned elements[] = {(unsigned)op->m * op->k, (unsigned)op->k * op->n,
                                 (unsigned)op->m * op->n, (unsigned)op->m * op->n};
    for (unsigned p = 0; p < 4; p++) {
        unsigned bits = matrix_bits((enum matrix_type)parts[p]->type);
        unsigned each = bits == 64 ? 1 : 32 / bits;
        if (elements[p] > parts[p]->count * each * VM_LANES)
            return false;
    }
    return true;
}

static bool known_shape(unsigned m, unsigned n, unsigned k)
{
    return ((m == 16 && (n == 8 || n == 16)) || (m == 8 && (n == 8 || n == 32)) ||
            (m == 32 && n == 8)) &&
           k >= 4 && k <= 256;
}

static bool lower_mma(struct lower *l, const struct ptx_instr *in, struct matrix_op *op)
{
    struct words w = read_text(in->text);
    const struct ptx_operand *o = in->operands;
    bool wmma = in->op == PTX_OP_wmma;
    if (wmma && w.type_count == 2) { /* wmma.mma of f16: the types of d and c only */
        w.types[3] = w.types[1];
        w.types[1] = w.types[2] = MATRIX_F16;
        w.type_count = 4;
    }
    if (w.strange || w.type_count != 4 || in->operand_count != 4 || !known_shape(w.m, w.n, w.k))
        return false;
    bool half = w.types[1] == MATRIX_F16;
    if (half && w.m == 8 && w.n == 8 && w.k == 4)
        return false; /* for sm_70 */
    op->kind = MATRIX_MULTIPLY;
    op->m = (uint16_t)w.m;
    op->n = (uint16_t)w.n;
    op->k = (uint16_t)w.k;
    op->saturates = w.saturates;
    op->uses_and = w.uses_and;
    return set_part(l, &op->d, &o[0], w.types[0], true) &&
           set_part(l, &op->a, &o[1], w.types[1], false) &&
           set_part(l, &op->b, &o[2], w.types[2], false) &&
           set_part(l, &op->c, &o[3], w.types[3], false) && fits(op);
}

static bool lower_wmma_memory(struct lower *l, const struct ptx_instr *in, struct matrix_op *op,
                              const struct words *w)
{
    const struct ptx_operand *o = in->operands;
    const unsigned at = w->store ? 0 : 1;
    if (w->strange || w->type_count != 1 || in->operand_count < 2 || !known_shape(w->m, w->n, w->k))
        return false;
    op->kind = w->store ? MATRIX_WRITE : MATRIX_READ;
    op->role = (uint8_t)(w->role == 'd' ? 'c' : w->role);
    op->m = (uint16_t)w->m;
    op->n = (uint16_t)w->n;
    op->k = (uint16_t)w->k;
    op->by_columns = w->column;
    unsigned bits = matrix_bits(w->types[0]);
    if (!set_memory(l, op, in, &o[at], bits < 8 ? 4 : bits / 8, w->store) ||
        !set_part(l, &op->d, &o[1 - at], w->types[0], !w->store))
        return false;
    if (in->operand_count > 2) {
        struct place stride = lower_place(l, &o[2], PTX_U32);
        op->has_stride = true;
        op->stride_slot = stride.slot;
        op->stride = stride.at;
    }
    return true;
}

static bool lower_rows(struct lower *l, const struct ptx_instr *in, struct matrix_op *op)
{
    const struct ptx_operand *o = in->operands;
    bool load = in->op == PTX_OP_ldmatrix;
    if (in->type != PTX_B16)
        return false;
    op->transposed = in->flags & PTX_F_TRANS;
    if (in->op == PTX_OP_movmatrix) {
        op->kind = MATRIX_TRANSPOSE;
        return set_part(l, &op->d, &o[0], MATRIX_S32, true) &&
               set_part(l, &op->a, &o[1], MATRIX_S32, false);
    }
    op->kind = load ? MATRIX_LOAD : MATRIX_STORE;
    struct matrix_part *p = load ? &op->d : &op->a;
    return set_memory(l, op, in, &o[load ? 1 : 0], 16, !load) &&
           set_part(l, p, &o[load ? 0 : 1], MATRIX_S32, load) && p->count == in->vec;
}

bool lower_matrix(struct lower *l, const struct ptx_instr *in)
{
    struct matrix_op *m = arena_alloc(&l->code->arena, sizeof *m);
    bool ok;
    switch ((int)in->op) {
    case PTX_OP_mma:
        ok = lower_mma(l, in, m);
        break;
    case PTX_OP_wmma: {
        struct words w = read_text(in->text);
        ok = w.load || w.store ? lower_wmma_memory(l, in, m, &w) : lower_mma(l, in, m);
        break;
    }
    case PTX_OP_ldmatrix:
    case PTX_OP_stmatrix:
    case PTX_OP_movmatrix:
        ok = lower_rows(l, in, m);
        break;
    default:
        return false;
    }
    if (!ok)
        return false;
    struct warp_op *op = arena_alloc(&l->code->arena, sizeof *op);
    *op = (struct warp_op){.in = in,
                           .kind = VM_MATRIX,
                           .mask = lower_constant(l, VM_FULL),
                           .mask_slot = true,
                           .matrix = m,
                           .pc = l->main.count};
    m->memory.pc = l->main.count;
    lower_emit(l, &l->main, VM_OP_matrix)->imm = (uint64_t)(uintptr_t)op;
    return true;
}
