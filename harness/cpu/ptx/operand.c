/* Operands, in the shapes of ptx.h. They are collected in a local array and in p->elements (the
 * parts of vectors), and copied to the arena when the statement is complete, so that nothing points
 * at memory that moves. Labels stay open until the scope ends (names.c). */
#include "cpu/ptx/parse.h"

#include <string.h>

/* One statement's operands on their way. A vector's `elements` is not set yet: `first` says where
 * its parts start in p->elements. */
struct operands {
    struct ptx_operand list[MAX_OPERANDS];
    size_t first[MAX_OPERANDS];
    uint32_t count;
};

static struct ptx_operand blank(enum ptx_operand_kind kind)
{
    return (struct ptx_operand){.kind = (uint8_t)kind, .reg = -1, .reg2 = -1, .symbol = -1};
}

static void set_immediate(struct ptx_operand *o, const struct number *n)
{
    *o = blank(PTX_OPERAND_IMM);
    o->imm = (int64_t)n->bits;
    o->imm_type = n->type;
}

/* "+ 4", "- 4", "+-4" behind an address; nothing is 0. */
static int read_offset(struct parser *p, int64_t *out)
{
    *out = 0;
    char c = next_char(p);
    if (c != '+' && c != '-')
        return 0;
    struct number n;
    if (read_number(p, &n) || (n.type != PTX_S64 && n.type != PTX_U64))
        return 1;
    *out = (int64_t)n.bits;
    return 0;
}

/* A special register: the name goes on behind a dot (%tid.x). */
static int read_special(struct parser *p, struct name *name, struct ptx_operand *o)
{
    const char *s = p->at;
    if (*s == '.' && is_class(s[1], CHAR_IDENT_START)) {
        const char *end = s + 1;
        while (is_class(*end, CHAR_IDENT))
            end++;
        const char *start = s - name->length; /* read_name() has just passed it */
        name = intern(p, start, (size_t)(end - start));
        p->at = end;
    }
    if (name->sreg == -2)
        name->sreg = (int16_t)sreg_by_name(name->text, name->length);
    if (name->sreg < 0)
        return 1;
    *o = blank(PTX_OPERAND_SREG);
    o->imm = name->sreg;
    return 0;
}

static int read_named(struct parser *p, struct name *name, struct ptx_operand *o)
{
    struct binding *b = lookup(p, name);
    if (!b) {
        if (word_is(name->text, name->length, "WARP_SZ")) {
            set_immediate(o, &(struct number){.bits = 32, .type = PTX_S64});
            return 0;
        }
        return read_special(p, name, o);
    }
    switch (b->kind) {
    case BOUND_REG:
        *o = blank(PTX_OPERAND_REG);
        o->reg = b->index;
        return *p->at == '.'; /* v.x of a vector register */
    case BOUND_SYMBOL:
        *o = blank(PTX_OPERAND_SYMBOL);
        o->symbol = b->index;
        return read_offset(p, &o->imm);
    case BOUND_FUNCTION:
        *o = blank(PTX_OPERAND_FUNC);
        o->imm = b->index;
        return 0;
    case BOUND_RANGE:
    case BOUND_LABEL:
    case BOUND_TARGETS:
    case BOUND_PROTOTYPE:
        break;
    }
    return 1;
}

/* [reg], [symbol], [number], each with an offset. */
static int read_address(struct parser *p, struct ptx_operand *o)
{
    p->at++;
    *o = blank(PTX_OPERAND_ADDR);
    if (is_class(next_char(p), CHAR_IDENT_START)) {
        struct name *name = read_name(p);
        struct binding *b = lookup(p, name);
        if (b && b->kind == BOUND_REG)
            o->reg = b->index;
        else if (b && b->kind == BOUND_SYMBOL)
            o->symbol = b->index;
        else
            return 1;
        if (read_offset(p, &o->imm))
            return 1;
    } else {
        struct number n;
        if (read_number(p, &n) || (n.type != PTX_S64 && n.type != PTX_U64))
            return 1;
        o->imm = (int64_t)n.bits;
    }
    return accept(p, ']') ? 0 : 1;
}

static bool is_sink(const struct name *name)
{
    return name->length == 1 && name->text[0] == '_';
}

/* Anything but a vector and an address. `type` is that of a register made for `_|p`. */
static int read_scalar(struct parser *p, uint8_t type, struct ptx_operand *o)
{
    char c = next_char(p);
    bool negated = c == '!';
    if (negated) {
        p->at++;
        c = next_char(p);
    }
    if (!is_class(c, CHAR_IDENT_START)) {
        struct number n;
        if (negated || read_number(p, &n))
            return 1;
        set_immediate(o, &n);
        return 0;
    }
    struct name *name = read_name(p);
    if (is_sink(name)) {
        *o = blank(PTX_OPERAND_SINK);
        if (next_char(p) == '|') {
            o->kind = PTX_OPERAND_REG;
            o->reg = add_register(p, "_", type);
        }
    } else if (read_named(p, name, o)) {
        return 1;
    }
    if (negated && o->kind != PTX_OPERAND_REG)
        return 1;
    o->negated = negated;
    if (!accept(p, '|'))
        return 0;
    name = read_name(p);
    if (!name || o->kind != PTX_OPERAND_REG)
        return 1;
    if (is_sink(name))
        return 0;
    struct binding *b = lookup(p, name);
    if (!b || b->kind != BOUND_REG)
        return 1;
    o->reg2 = b->index;
    return 0;
}

static void push_element(struct parser *p, const struct ptx_operand *o)
{
    *(struct ptx_operand *)vec_push(&p->elements, sizeof *o) = *o;
}

/* The rest of a list, up to and with `closing`. */
static int read_list(struct parser *p, char closing, struct operands *all)
{
    if (all->count == MAX_OPERANDS)
        return 1;
    uint32_t index = all->count++;
    all->list[index] = blank(PTX_OPERAND_VEC);
    all->first[index] = p->elements.count;
    if (accept(p, closing))
        return 0;
    do {
        struct ptx_operand element;
        if (read_scalar(p, PTX_B32, &element))
            return 1;
        push_element(p, &element);
        all->list[index].element_count++;
    } while (accept(p, ','));
    return accept(p, closing) ? 0 : 1;
}

static int read_one(struct parser *p, uint8_t type, struct operands *all)
{
    char c = next_char(p);
    if (c == '{') {
        p->at++;
        return read_list(p, '}', all);
    }
    if (all->count == MAX_OPERANDS)
        return 1;
    struct ptx_operand *o = &all->list[all->count++];
    return c == '[' ? read_address(p, o) : read_scalar(p, type, o);
}

/* Behind an operand: 1 if what follows could belong to a form that we do not know, -1 if the
 * statement just does not end. */
static int read_separator(struct parser *p)
{
    char c = next_char(p);
    if (c == ',' || c == ';')
        return 0;
    if (p->at == p->end || is_class(c, CHAR_IDENT_START) || c == '@' || c == '{' || c == '}')
        return fail_found(p, "',' or ';' behind an operand");
    return 1;
}

static int read_plain(struct parser *p, const struct opcode *opcode, struct operands *all)
{
    uint8_t type = opcode->instr.op == PTX_OP_setp ? (uint8_t)PTX_PRED
                   : opcode->instr.type            ? opcode->instr.type
                                                   : (uint8_t)PTX_B32;
    if (next_char(p) == ';')
        return 0;
    int result;
    do {
        if (read_one(p, type, all))
            return 1;
        if ((result = read_separator(p)))
            return result;
    } while (accept(p, ','));
    if (opcode->drops_policy && all->count > 0)
        all->count--;
    return 0;
}

/* A label operand; imm is filled by a fixup, which needs the operand's last address. Until then
 * its name travels in `elements`. */
static int read_label(struct parser *p, struct ptx_operand *o)
{
    if (!is_class(next_char(p), CHAR_IDENT_START))
        return 1;
    *o = blank(PTX_OPERAND_LABEL);
    o->elements = (void *)read_name(p);
    return 0;
}

static int read_branch(struct parser *p, struct operands *all)
{
    all->count = 1;
    return read_label(p, &all->list[0]);
}

/* brx.idx index, list; */
static int read_branch_indexed(struct parser *p, struct operands *all)
{
    if (read_one(p, PTX_B32, all) || all->list[0].kind != PTX_OPERAND_REG || !accept(p, ','))
        return 1;
    struct name *name = read_name(p);
    struct binding *b = name ? lookup(p, name) : NULL;
    if (!b || b->kind != BOUND_TARGETS)
        return 1;
    all->count = 2;
    all->list[1] = blank(PTX_OPERAND_VEC);
    all->first[1] = p->elements.count;
    all->list[1].element_count = b->target_count;
    for (uint32_t i = 0; i < b->target_count; i++) {
        struct ptx_operand label = blank(PTX_OPERAND_LABEL);
        label.elements = (void *)b->targets[i];
        push_element(p, &label);
    }
    return 0;
}

static bool elements_fit_call(const struct parser *p, const struct operands *all, uint32_t index,
                              bool immediates)
{
    const struct ptx_operand *elements = p->elements.data;
    for (uint32_t i = 0; i < all->list[index].element_count; i++) {
        uint8_t kind = elements[all->first[index] + i].kind;
        if (kind != PTX_OPERAND_SYMBOL && !(immediates && kind == PTX_OPERAND_IMM))
            return false;
    }
    return true;
}

/* call (results), target, (arguments), prototype; the first, third and fourth may be missing. */
static int read_call(struct parser *p, struct operands *all)
{
    if (accept(p, '(')) {
        if (read_list(p, ')', all) || !accept(p, ','))
            return 1;
    } else {
        all->list[0] = blank(PTX_OPERAND_VEC);
        all->first[0] = p->elements.count;
        all->count = 1;
    }
    if (read_one(p, PTX_B64, all))
        return 1;
    uint8_t target = all->list[1].kind;
    if (target != PTX_OPERAND_FUNC && target != PTX_OPERAND_REG)
        return 1;
    bool more = accept(p, ',');
    if (more && accept(p, '(')) {
        if (read_list(p, ')', all))
            return 1;
        more = accept(p, ',');
    } else {
        all->list[2] = blank(PTX_OPERAND_VEC);
        all->first[2] = p->elements.count;
        all->count = 3;
    }
    if (more) {
        struct name *name = read_name(p);
        struct binding *b = name ? lookup(p, name) : NULL;
        if (!b || b->kind != BOUND_PROTOTYPE)
            return 1;
        all->list[3] = blank(PTX_OPERAND_SYMBOL);
        all->list[3].imm = b->index;
        all->count = 4;
    }
    if (target == PTX_OPERAND_REG && all->count != 4)
        return 1;
    return elements_fit_call(p, all, 0, false) && elements_fit_call(p, all, 2, true) ? 0 : 1;
}

static void settle_label(struct parser *p, struct ptx_operand *o, uint32_t line)
{
    if (o->kind != PTX_OPERAND_LABEL)
        return;
    struct name *name = (void *)o->elements;
    o->elements = NULL;
    add_fixup(p, o, name, line);
}

/* Copies the operands to the arena. */
static void settle(struct parser *p, struct operands *all, struct ptx_instr *instr)
{
    struct ptx_operand *list = arena_array(p->arena, all->count, sizeof *list);
    memcpy(list, all->list, all->count * sizeof *list);
    for (uint32_t i = 0; i < all->count; i++) {
        settle_label(p, &list[i], instr->ptx_line);
        if (list[i].kind != PTX_OPERAND_VEC)
            continue;
        uint32_t count = list[i].element_count;
        const struct ptx_operand *from = (struct ptx_operand *)p->elements.data + all->first[i];
        list[i].elements = arena_array(p->arena, count, sizeof *list);
        if (count > 0)
            memcpy(list[i].elements, from, count * sizeof *list);
        for (uint32_t j = 0; j < count; j++)
            settle_label(p, &list[i].elements[j], instr->ptx_line);
    }
    instr->operands = list;
    instr->operand_count = (uint16_t)all->count;
}

int read_operands(struct parser *p, const struct opcode *opcode, struct ptx_instr *instr)
{
    struct operands all;
    all.count = 0;
    p->elements.count = 0;
    int result = 1;
    switch (opcode->form) {
    case FORM_PLAIN:
        result = read_plain(p, opcode, &all);
        break;
    case FORM_BRANCH:
        result = read_branch(p, &all);
        break;
    case FORM_BRANCH_INDEXED:
        result = read_branch_indexed(p, &all);
        break;
    case FORM_CALL:
        result = read_call(p, &all);
        break;
    case FORM_UNKNOWN:
        return 1;
    }
    if (result == 0)
        result = read_separator(p);
    if (result)
        return result;
    if (all.count < opcode->least || all.count > opcode->most || !accept(p, ';'))
        return 1;
    settle(p, &all, instr);
    return 0;
}
