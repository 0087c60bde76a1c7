/* Function bodies: statements, labels, nested scopes, the directives that may stand among them.
 *
 * What the parser knows is a statement of struct ptx_instr; what it does not know (an opcode that
 * ops.def does not list, a suffix, an operand shape) becomes PTX_OP_unknown with the statement's
 * text. A body always ends in an instruction that does not fall through: one `ret` is added if the
 * text has none, so that labels at the very end stay in range. */
#include "cpu/ptx/parse.h"

#include <string.h>

enum { MAX_UNKNOWN_TEXT = 160 };

/* .reg .b32 %r<100>, x, y; */
static int read_registers(struct parser *p)
{
    const char *w;
    enum ptx_type type = PTX_NONE;
    bool vector = false;
    while (accept(p, '.')) {
        size_t length = read_word(p, &w);
        vector |= length == 2 && w[0] == 'v';
        type = type_by_name(w, length);
        if (type == PTX_NONE && !vector)
            return fail(p, "'.%.*s' was found; expected the type of a register",
                        (int)(length < 60 ? length : 60), w);
    }
    if (type == PTX_NONE)
        return fail_found(p, "the type of a register");
    if (vector)
        return skip_statement(p); /* what uses them becomes unknown */
    do {
        struct name *name = read_name(p);
        struct binding *b;
        if (!name)
            return fail_found(p, "a register name");
        if (accept(p, '<')) {
            uint64_t count;
            if (read_unsigned(p, UINT32_MAX, "a register count", &count) || expect(p, '>') ||
                bind(p, name, BOUND_RANGE, 0, &b))
                return -1;
            b->count = count;
            b->type = (uint8_t)type;
        } else if (bind(p, name, BOUND_REG, -1, &b)) {
            return -1;
        } else {
            b->index = add_register(p, name->text, (uint8_t)type);
        }
    } while (accept(p, ','));
    return expect(p, ';');
}

int read_pragma(struct parser *p)
{
    do {
        const char *text;
        if (read_string(p, &text))
            return -1;
        static const char mask[] = "used_bytes_mask";
        if (strncmp(text, mask, sizeof mask - 1) == 0) {
            struct parser inner = {.at = text + sizeof mask - 1, .end = text + strlen(text)};
            struct number n;
            if (read_number(&inner, &n) == 0)
                p->used_bytes = (uint32_t)n.bits;
        }
    } while (accept(p, ','));
    return expect(p, ';');
}

/* label: .branchtargets A, B; */
static int read_targets(struct parser *p, struct name *label)
{
    struct vec names = {0};
    struct binding *b;
    int result = -1;
    do {
        struct name *name = read_name(p);
        if (!name) {
            fail_found(p, "a label");
            goto out;
        }
        *(struct name **)vec_push(&names, sizeof(void *)) = name;
    } while (accept(p, ','));
    if (expect(p, ';') || bind(p, label, BOUND_TARGETS, 0, &b))
        goto out;
    b->target_count = (uint32_t)names.count;
    b->targets = arena_array(&p->scratch, names.count, sizeof(void *));
    memcpy(b->targets, names.data, names.count * sizeof(void *));
    result = 0;
out:
    vec_release(&names);
    return result;
}

/* label: .calltargets f, g; one of them gives the signature. */
static int read_call_targets(struct parser *p, struct name *label)
{
    struct name *name = read_name(p);
    struct binding *b = name ? lookup(p, name) : NULL;
    if (!b || b->kind != BOUND_FUNCTION)
        return fail_found(p, "the name of a function");
    return bind(p, label, BOUND_PROTOTYPE, b->index, NULL) ? -1 : skip_statement(p);
}

/* label: .callprototype (results) _ (parameters) .noreturn; it is kept as a function without a
 * body, so that an indirect call finds the layout where a direct one does. */
static int read_prototype(struct parser *p, struct name *label)
{
    struct ptx_function f = {.name = label->text, .is_declaration = true, .ptx_line = p->line};
    int32_t caller = p->function;
    const char *w;
    p->function = (int32_t)p->functions.count;
    vec_push(&p->functions, sizeof f);
    if (open_scope(p))
        return -1;
    int32_t *results = NULL;
    uint32_t result_count = 0;
    uint64_t result_bytes = 0;
    if (next_char(p) == '(' && read_parameters(p, &results, &result_count, &result_bytes))
        return -1;
    if (!read_word(p, &w))
        return fail_found(p, "'_'");
    if (next_char(p) == '(' && read_parameters(p, &f.params, &f.param_count, &f.param_bytes))
        return -1;
    f.results = results;
    f.result_count = result_count;
    if (accept(p, '.')) {
        size_t length = read_word(p, &w);
        f.is_noreturn = word_is(w, length, "noreturn");
    }
    int32_t index = p->function;
    if (place_results(p, &f))
        return -1;
    *function_at(p, index) = f;
    p->function = caller;
    if (close_scope(p))
        return -1;
    return skip_statement(p) ? -1 : bind(p, label, BOUND_PROTOTYPE, index, NULL);
}

/* Behind a '.' in a body; `label` is what stood before it, with a colon. */
static int read_directive(struct parser *p, struct name *label)
{
    const char *w;
    size_t n = read_word(p, &w);
    if (word_is(w, n, "loc"))
        return read_loc(p);
    if (word_is(w, n, "reg"))
        return read_registers(p);
    if (word_is(w, n, "param"))
        return read_variables(p, PTX_PARAM, PTX_LINK_NONE);
    if (word_is(w, n, "local"))
        return read_variables(p, PTX_LOCAL, PTX_LINK_NONE);
    if (word_is(w, n, "shared"))
        return read_variables(p, PTX_SHARED, PTX_LINK_NONE);
    if (word_is(w, n, "global"))
        return read_variables(p, PTX_GLOBAL, PTX_LINK_NONE);
    if (word_is(w, n, "const"))
        return read_variables(p, PTX_CONST, PTX_LINK_NONE);
    if (word_is(w, n, "pragma"))
        return read_pragma(p);
    if (word_is(w, n, "file"))
        return read_file(p);
    if (label && word_is(w, n, "branchtargets"))
        return read_targets(p, label);
    if (label && word_is(w, n, "calltargets"))
        return read_call_targets(p, label);
    if (label && word_is(w, n, "callprototype"))
        return read_prototype(p, label);
    return fail(p,
                "'.%.*s' was found in a function body; expected a directive such as .reg or .loc",
                (int)(n < 60 ? n : 60), w);
}

/* @p or @!p */
static int read_guard(struct parser *p, struct ptx_instr *instr)
{
    p->at++;
    instr->guard_negated = accept(p, '!');
    struct name *name = read_name(p);
    if (!name)
        return fail_found(p, "a predicate behind '@'");
    struct binding *b = lookup(p, name);
    if (!b || b->kind != BOUND_REG || ((struct ptx_reg *)p->regs.data)[b->index].type != PTX_PRED)
        return fail(p, "'%.200s' was found behind '@'; expected a predicate register", name->text);
    instr->guard = b->index;
    return 0;
}

static struct ptx_instr *add_instr(struct parser *p, const struct ptx_instr *instr)
{
    struct ptx_instr *i = vec_push(&p->instrs, sizeof *i);
    *i = *instr;
    i->loc = p->loc;
    i->used_bytes = p->used_bytes;
    p->used_bytes = ~0u;
    p->label_at_end = false;
    return i;
}

/* From the opcode that starts at `start`: skips the statement and keeps its text. */
static int read_unknown(struct parser *p, const char *start, struct ptx_instr *instr)
{
    p->at = start; /* an operand that could not be read may have ended inside braces */
    p->line = instr->ptx_line;
    if (skip_statement(p))
        return -1;
    size_t length = (size_t)(p->at - start - 1);
    if (length > MAX_UNKNOWN_TEXT)
        length = MAX_UNKNOWN_TEXT;
    char *text = arena_strndup(p->arena, start, length);
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ')
            *c = ' ';
    }
    *instr = (struct ptx_instr){.op = PTX_OP_unknown,
                                .vec = 1,
                                .guard = instr->guard,
                                .guard_negated = instr->guard_negated,
                                .ptx_line = instr->ptx_line,
                                .text = text};
    add_instr(p, instr);
    return 0;
}

/* An instruction whose opcode starts at p->at. */
static int read_instruction(struct parser *p, int32_t guard, bool guard_negated)
{
    const char *start = p->at, *s = start;
    while (is_class(*s, CHAR_IDENT) || *s == '.' || (*s == ':' && s[1] == ':')) {
        s += *s == ':' ? 2 : 1;
    }
    struct name *spelling = intern(p, start, (size_t)(s - start));
    const struct opcode *opcode = decode_opcode(p, spelling);
    struct ptx_instr instr = opcode->instr;
    instr.guard = guard;
    instr.guard_negated = guard_negated;
    instr.ptx_line = p->line;
    p->at = s;
    int result = read_operands(p, opcode, &instr);
    if (result == 0)
        add_instr(p, &instr);
    else if (result > 0)
        result = read_unknown(p, start, &instr);
    return result;
}

/* A label, or an instruction. */
static int read_label_or_instruction(struct parser *p)
{
    const char *start = p->at, *s = start;
    uint32_t line = p->line;
    while (is_class(*s, CHAR_IDENT))
        s++;
    if (*s == '.' || *s == ';')
        return read_instruction(p, -1, false);
    p->at = s;
    if (next_char(p) != ':') { /* an opcode without suffixes, or what is none at all */
        p->at = start;
        p->line = line;
        return read_instruction(p, -1, false);
    }
    struct name *label = intern(p, start, (size_t)(s - start));
    p->at++;
    if (next_char(p) == '.') {
        const char *dot = p->at;
        const char *w;
        p->at++;
        size_t n = read_word(p, &w);
        p->at = dot;
        if (word_is(w, n, "branchtargets") || word_is(w, n, "calltargets") ||
            word_is(w, n, "callprototype")) {
            p->at++;
            return read_directive(p, label);
        }
    }
    p->label_at_end = true;
    return bind(p, label, BOUND_LABEL, (int32_t)p->instrs.count, NULL);
}

static int read_guarded(struct parser *p)
{
    struct ptx_instr guard = {0};
    if (read_guard(p, &guard))
        return -1;
    if (!is_class(next_char(p), CHAR_IDENT_START))
        return fail_found(p, "an instruction");
    return read_instruction(p, guard.guard, guard.guard_negated);
}

static bool falls_through(const struct parser *p)
{
    if (p->instrs.count == 0 || p->label_at_end)
        return true;
    const struct ptx_instr *last = (struct ptx_instr *)p->instrs.data + p->instrs.count - 1;
    return last->guard >= 0 || (last->op != PTX_OP_ret && last->op != PTX_OP_exit &&
                                last->op != PTX_OP_bra && last->op != PTX_OP_brx);
}

static void finish_body(struct parser *p)
{
    if (falls_through(p)) {
        struct opcode *ret = decode_opcode(p, intern(p, "ret", 3));
        struct ptx_instr *i = add_instr(p, &ret->instr);
        i->ptx_line = p->line;
        i->operands = arena_array(p->arena, 0, sizeof *i->operands);
    }
    struct ptx_function *f = function_at(p, p->function);
    f->instr_count = (uint32_t)p->instrs.count;
    f->instrs = arena_array(p->arena, f->instr_count, sizeof *f->instrs);
    memcpy(f->instrs, p->instrs.data, f->instr_count * sizeof *f->instrs);
    f->reg_count = (uint32_t)p->regs.count;
    f->regs = arena_array(p->arena, f->reg_count, sizeof *f->regs);
    if (f->reg_count > 0)
        memcpy(f->regs, p->regs.data, f->reg_count * sizeof *f->regs);
}

int read_body(struct parser *p)
{
    uint32_t outermost = p->depth;
    p->instrs.count = 0;
    p->regs.count = 0;
    p->used_bytes = ~0u;
    p->label_at_end = false;
    locs_start_function(p);
    for (;;) {
        char c = next_char(p);
        int result;
        if (is_class(c, CHAR_IDENT_START)) {
            result = read_label_or_instruction(p);
        } else if (c == '.') {
            p->at++;
            result = read_directive(p, NULL);
        } else if (c == '@') {
            result = read_guarded(p);
        } else if (c == '{') {
            p->at++;
            result = open_scope(p);
        } else if (c == '}' && p->depth == outermost) {
            p->at++;
            break;
        } else if (c == '}') {
            p->at++;
            result = close_scope(p);
        } else if (c == ';') {
            p->at++;
            result = 0;
        } else {
            result = fail_found(p, "a statement or '}'");
        }
        if (result)
            return -1;
    }
    finish_body(p);
    return 0;
}
