/* An opcode with its suffixes ("ld.global.nc.v4.u32") is decoded once per distinct spelling into a
 * struct ptx_instr that every later use copies; a module has some hundred spellings, whatever its
 * length. Each suffix is looked up in two tables: subs.def, where the meaning depends on what came
 * before, then suffixes.def. A suffix that neither knows makes the form unknown. */
#include "cpu/ptx/parse.h"

#include <string.h>

enum group {
    G_CVT = 1 << 0,
    G_MINMAX = 1 << 1,
    G_REDUX = 1 << 2,
    G_CARRY = 1 << 3,
    G_JUMP = 1 << 4,
    G_BRX = 1 << 5,
    G_SHFL = 1 << 6,
    G_VOTE = 1 << 7, /* vote, match */
    G_BAR = 1 << 8,
    G_MATRIX = 1 << 9,
    G_HINT = 1 << 10, /* no effect on values: any suffix is fine */
    G_LD = 1 << 11,
    G_ST = 1 << 12,
    G_SHIFT = 1 << 13, /* shf, bmsk, szext */
    G_BFIND = 1 << 14,
    G_CVTA = 1 << 15,
    G_CP = 1 << 16,
    G_MBARRIER = 1 << 17,
    G_ATOM = 1 << 18,
    G_RED = 1 << 19,
    G_FENCE = 1 << 20,
    G_SETP = 1 << 21,
    G_LOP3 = 1 << 22,
    G_MUL = 1 << 23,
    G_PRMT = 1 << 24,
    G_TESTP = 1 << 25,
    G_ELECT = 1 << 26,
    G_ISSPACEP = 1 << 27, /* and mapa, getctarank */
    G_UNTYPED = 1 << 28,  /* no type suffix is needed */
    G_ALL = ~0,
    G_WARP = G_SHFL | G_VOTE | G_REDUX | G_ELECT | G_MATRIX,
    G_MEMORY = G_LD | G_ST | G_ATOM | G_RED,
    G_CACHED = G_MEMORY | G_CP | G_HINT,
    G_ORDERED = G_MEMORY | G_FENCE | G_MBARRIER | G_BAR,
    G_ADDRESS = G_MEMORY | G_CVTA | G_ISSPACEP | G_CP | G_MBARRIER | G_MATRIX | G_FENCE | G_HINT,
};

enum what { ROUND, FLAG, SPACE, SEM, SCOPE, VEC, CMP, BOOL, IGNORE };

enum { S_BAR_WARP = 200, S_BAR_CLUSTER, S_CP_MBARRIER, S_CP_REDUCE, S_CP_REDUCE_ASYNC, S_LAST };

static const struct suffix {
    const char *text;
    uint32_t length;
    unsigned groups;
    enum what what;
    uint32_t value;
} suffixes[] = {
#define SUFFIX(text, groups, what, value) {text, sizeof text - 1, (unsigned)(groups), what, value},
#include "cpu/ptx/suffixes.def"
#undef SUFFIX
};

static const struct sub_rule {
    unsigned groups;
    uint32_t from;
    const char *text;
    uint32_t length, to;
} sub_rules[] = {
#define SUB(groups, from, text, to) {(unsigned)(groups), from, text, sizeof text - 1, to},
#include "cpu/ptx/subs.def"
#undef SUB
};

static const struct type_row {
    const char *text;
    uint32_t length, bytes;
    enum ptx_type type;
} types[] = {
#define SUFFIX(text, groups, what, value)
#define TYPE(text, type, bytes) {text, sizeof text - 1, bytes, type},
#include "cpu/ptx/suffixes.def"
#undef TYPE
#undef SUFFIX
};

static const struct op_row {
    const char *name;
    uint32_t length;
    uint8_t least, most;
    enum ptx_who who;
} ops[] = {
#define OP(name, least, most, who, meaning) {#name, sizeof #name - 1, least, most, PTX_WHO_##who},
#include "cpu/ptx/ops.def"
#undef OP
};

static const struct sreg_row {
    const char *name;
    uint32_t length;
} sregs[] = {
#define SREG(id, name, bits) {name, sizeof name - 1},
#include "cpu/ptx/sregs.def"
#undef SREG
};

#define COUNT(array)                   (sizeof(array) / sizeof *(array))
#define IS(row_text, row_length, s, n) ((row_length) == (n) && memcmp(row_text, s, n) == 0)

const char *ptx_op_name(enum ptx_op op)
{
    return (size_t)op < COUNT(ops) ? ops[op].name : "unknown";
}

enum ptx_who ptx_op_who(enum ptx_op op)
{
    return (size_t)op < COUNT(ops) ? ops[op].who : PTX_WHO_LANE;
}

const char *ptx_sreg_name(enum ptx_sreg s)
{
    return (size_t)s < COUNT(sregs) ? sregs[s].name : "unknown";
}

int sreg_by_name(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT(sregs); i++) {
        if (IS(sregs[i].name, sregs[i].length, word, length))
            return (int)i;
    }
    return -1;
}

enum ptx_type type_by_name(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        if (IS(types[i].text, types[i].length, word, length))
            return types[i].type;
    }
    return PTX_NONE;
}

unsigned ptx_type_bytes(enum ptx_type t)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        if (types[i].type == t)
            return types[i].bytes;
    }
    return 0;
}

bool ptx_type_is_signed(enum ptx_type t)
{
    return (t >= PTX_S8 && t <= PTX_S64) || t == PTX_S16X2;
}

bool ptx_type_is_float(enum ptx_type t)
{
    return t >= PTX_F16 && t <= PTX_F64;
}

static enum ptx_op op_by_name(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT(ops); i++) {
        if (IS(ops[i].name, ops[i].length, word, length))
            return (enum ptx_op)i;
    }
    return PTX_OP_unknown;
}

static const uint32_t op_groups[PTX_OP_COUNT] = {
    [PTX_OP_cvt] = G_CVT,
    [PTX_OP_min] = G_MINMAX,
    [PTX_OP_max] = G_MINMAX,
    [PTX_OP_redux] = G_REDUX,
    [PTX_OP_add] = G_CARRY,
    [PTX_OP_addc] = G_CARRY,
    [PTX_OP_sub] = G_CARRY,
    [PTX_OP_subc] = G_CARRY,
    [PTX_OP_mad] = G_CARRY | G_MUL,
    [PTX_OP_madc] = G_CARRY | G_MUL,
    [PTX_OP_mul] = G_MUL,
    [PTX_OP_mul24] = G_MUL,
    [PTX_OP_mad24] = G_MUL,
    [PTX_OP_dp2a] = G_MUL,
    [PTX_OP_bra] = G_JUMP | G_UNTYPED,
    [PTX_OP_brx] = G_JUMP | G_BRX | G_UNTYPED,
    [PTX_OP_call] = G_JUMP | G_UNTYPED,
    [PTX_OP_ret] = G_JUMP | G_UNTYPED,
    [PTX_OP_exit] = G_UNTYPED,
    [PTX_OP_trap] = G_UNTYPED,
    [PTX_OP_brkpt] = G_UNTYPED,
    [PTX_OP_istypep] = G_UNTYPED,
    [PTX_OP_shfl] = G_SHFL,
    [PTX_OP_vote] = G_VOTE,
    [PTX_OP_match] = G_VOTE,
    [PTX_OP_elect] = G_ELECT | G_UNTYPED,
    [PTX_OP_bar] = G_BAR | G_UNTYPED,
    [PTX_OP_barrier] = G_BAR | G_UNTYPED,
    [PTX_OP_ldmatrix] = G_MATRIX,
    [PTX_OP_stmatrix] = G_MATRIX,
    [PTX_OP_movmatrix] = G_MATRIX,
    /* What they do is in their text: lower_matrix.c and lower_alu.c read it. */
    [PTX_OP_mma] = G_HINT | G_UNTYPED,
    [PTX_OP_wmma] = G_HINT | G_UNTYPED,
    [PTX_OP_vabsdiff2] = G_HINT,
    [PTX_OP_vabsdiff4] = G_HINT,
    [PTX_OP_vadd2] = G_HINT,
    [PTX_OP_vadd4] = G_HINT,
    [PTX_OP_vavrg2] = G_HINT,
    [PTX_OP_vavrg4] = G_HINT,
    [PTX_OP_vmax2] = G_HINT,
    [PTX_OP_vmax4] = G_HINT,
    [PTX_OP_vmin2] = G_HINT,
    [PTX_OP_vmin4] = G_HINT,
    [PTX_OP_vsub2] = G_HINT,
    [PTX_OP_vsub4] = G_HINT,
    [PTX_OP_createpolicy] = G_HINT | G_UNTYPED,
    [PTX_OP_prefetch] = G_HINT | G_UNTYPED,
    [PTX_OP_prefetchu] = G_HINT | G_UNTYPED,
    [PTX_OP_applypriority] = G_HINT | G_UNTYPED,
    [PTX_OP_discard] = G_HINT | G_UNTYPED,
    [PTX_OP_pmevent] = G_HINT | G_UNTYPED,
    [PTX_OP_griddepcontrol] = G_HINT | G_UNTYPED,
    [PTX_OP_setmaxnreg] = G_HINT | G_UNTYPED,
    [PTX_OP_ld] = G_LD,
    [PTX_OP_ldu] = G_LD,
    [PTX_OP_st] = G_ST,
    [PTX_OP_shf] = G_SHIFT,
    [PTX_OP_bmsk] = G_SHIFT,
    [PTX_OP_szext] = G_SHIFT,
    [PTX_OP_bfind] = G_BFIND,
    [PTX_OP_cvta] = G_CVTA,
    [PTX_OP_isspacep] = G_ISSPACEP | G_UNTYPED,
    [PTX_OP_mapa] = G_ISSPACEP,
    [PTX_OP_getctarank] = G_ISSPACEP,
    [PTX_OP_cp] = G_CP | G_UNTYPED,
    [PTX_OP_mbarrier] = G_MBARRIER,
    [PTX_OP_atom] = G_ATOM,
    [PTX_OP_red] = G_RED,
    [PTX_OP_fence] = G_FENCE | G_UNTYPED,
    [PTX_OP_membar] = G_FENCE | G_UNTYPED,
    [PTX_OP_setp] = G_SETP,
    [PTX_OP_set] = G_SETP,
    [PTX_OP_lop3] = G_LOP3,
    [PTX_OP_prmt] = G_PRMT,
    [PTX_OP_testp] = G_TESTP,
};

/* Opcodes that mean nothing without their sub. */
#define G_NEEDS_SUB                                                                                \
    (G_ATOM | G_RED | G_REDUX | G_SHFL | G_VOTE | G_BAR | G_CP | G_MBARRIER | G_TESTP)

struct decoding {
    struct opcode *opcode;
    unsigned group;
    uint32_t sub;
    unsigned type_count, space_count;
    enum ptx_type first_type, last_type;
};

static bool apply(struct decoding *d, const struct suffix *s)
{
    struct ptx_instr *i = &d->opcode->instr;
    switch (s->what) {
    case ROUND:
        i->round = (uint8_t)s->value;
        return true;
    case FLAG:
        i->flags |= s->value;
        return true;
    case SPACE:
        if (d->space_count++ == 0)
            i->space = (uint8_t)s->value;
        else
            i->space2 = (uint8_t)s->value;
        return d->space_count <= 2 || (d->group & G_FENCE);
    case SEM:
        if (i->sem != PTX_MMIO)
            i->sem = (uint8_t)s->value;
        return true;
    case SCOPE:
        i->scope = (uint8_t)s->value;
        return true;
    case VEC:
        i->vec = (uint8_t)s->value;
        return true;
    case CMP:
        i->cmp = (uint8_t)s->value;
        return true;
    case BOOL:
        i->boolop = (uint8_t)s->value;
        return true;
    case IGNORE:
        return true;
    }
    return false;
}

static bool decode_suffix(struct decoding *d, const char *s, size_t length)
{
    for (size_t i = 0; i < COUNT(sub_rules); i++) {
        const struct sub_rule *r = &sub_rules[i];
        if ((r->groups & d->group) && r->from == d->sub && IS(r->text, r->length, s, length)) {
            d->sub = r->to;
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        const struct suffix *row = &suffixes[i];
        if (IS(row->text, row->length, s, length) &&
            (row->groups == (unsigned)G_ALL || (row->groups & d->group)))
            return apply(d, row);
    }
    if ((d->group & G_CACHED) && length > 4 && s[0] == 'L' && s[2] == ':') {
        d->opcode->drops_policy |= IS("L2::cache_hint", 14, s, length);
        return true;
    }
    enum ptx_type type = type_by_name(s, length);
    if (type != PTX_NONE) {
        if (d->type_count++ == 0)
            d->first_type = type;
        d->last_type = type;
        return d->type_count <= 2 || (d->group & G_HINT);
    }
    return (d->group & G_HINT) != 0;
}

/* What the suffixes leave open and the PTX manual fills in. */
static bool complete(struct decoding *d)
{
    struct ptx_instr *i = &d->opcode->instr;
    bool destination_first = i->op == PTX_OP_cvt || i->op == PTX_OP_set;
    i->type = (uint8_t)(destination_first ? d->first_type : d->last_type);
    i->src_type = (uint8_t)(destination_first ? d->last_type : d->first_type);
    bool two_types = d->type_count == 2;
    if (two_types && !destination_first && i->op != PTX_OP_slct && i->op != PTX_OP_dp4a &&
        i->op != PTX_OP_dp2a && !(d->group & G_HINT))
        return false; /* mixed precision and packed forms that the machine does not have */
    if (i->op == PTX_OP_cvt && !two_types)
        return false;
    if (d->type_count == 0 && !(d->group & G_UNTYPED))
        return false;
    bool integer_product = (d->group & G_MUL) && !ptx_type_is_float(d->last_type);
    if (d->sub == PTX_SUB_NONE && ((d->group & G_NEEDS_SUB) || integer_product))
        return false;
    if (d->sub >= S_BAR_WARP || d->sub == PTX_BAR_RED) /* stopped on the way */
        return false;
    if ((d->group & G_SETP) && i->cmp == PTX_CMP_NONE)
        return false;
    i->sub = (uint8_t)d->sub;
    if ((d->group & G_BAR) && i->sub == PTX_AND)
        i->boolop = PTX_BOOL_AND;
    if ((d->group & G_BAR) && i->sub == PTX_OR)
        i->boolop = PTX_BOOL_OR;
    if (i->op == PTX_OP_bar)
        i->flags |= PTX_F_ALIGNED;
    if (d->group & (G_ATOM | G_RED)) {
        if (i->sem == PTX_WEAK)
            i->sem = PTX_RELAXED;
        if (i->scope == PTX_SCOPE_NONE)
            i->scope = PTX_SCOPE_GPU;
    }
    if ((d->group & G_FENCE) && i->sub == PTX_SUB_NONE) {
        i->sub = PTX_FENCE_THREAD;
        if (i->sem == PTX_WEAK)
            i->sem = i->op == PTX_OP_membar ? PTX_SC : PTX_ACQ_REL;
    }
    return true;
}

static enum opcode_form form_of(uint16_t op)
{
    switch (op) {
    case PTX_OP_bra:
        return FORM_BRANCH;
    case PTX_OP_brx:
        return FORM_BRANCH_INDEXED;
    case PTX_OP_call:
        return FORM_CALL;
    default:
        return FORM_PLAIN;
    }
}

/* The end of the suffix at `s`: at a '.', or at `end`. */
static const char *suffix_end(const char *s, const char *end)
{
    const char *dot = memchr(s, '.', (size_t)(end - s));
    return dot ? dot : end;
}

struct opcode *decode_opcode(struct parser *p, struct name *spelling)
{
    if (spelling->opcode)
        return spelling->opcode;
    struct opcode *o = arena_alloc(&p->scratch, sizeof *o);
    spelling->opcode = o;
    const char *s = spelling->text, *end = s + spelling->length, *stop = suffix_end(s, end);
    enum ptx_op op = op_by_name(s, (size_t)(stop - s));
    o->instr = (struct ptx_instr){
        .op = (uint16_t)op, .vec = 1, .guard = -1, .used_bytes = ~0u, .text = spelling->text};
    o->form = form_of(o->instr.op);
    struct decoding d = {.opcode = o, .group = op_groups[op], .sub = PTX_SUB_NONE};
    bool known = op != PTX_OP_unknown;
    if (known) {
        o->least = ops[op].least;
        o->most = ops[op].most;
    }
    while (known && stop != end) {
        s = stop + 1;
        stop = suffix_end(s, end);
        known = decode_suffix(&d, s, (size_t)(stop - s));
    }
    if (!known || !complete(&d))
        o->form = FORM_UNKNOWN;
    return o;
}
