/* How it works: recursive descent, one function per level of precedence, builds a tree of struct
 * expr; evaluation walks it. The depth of nesting is limited where a level of parentheses, a call
 * or a sign opens, the length of chains by the number of operands. Only the root keeps the text. */
#include "judge/problem/expr.h"

#include <stdio.h>
#include <string.h>

enum op {
    OP_NUMBER,
    OP_VARIABLE,
    OP_BYTES,
    OP_NEGATE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_EQ,
    OP_NE,
    OP_LE,
    OP_GE,
    OP_LT,
    OP_GT,
    OP_MIN,
    OP_MAX,
    OP_CEIL_DIV,
    OP_ALIGN_UP
};

struct expr {
    enum op op;
    int64_t number;     /* NUMBER */
    unsigned index;     /* VARIABLE, BYTES */
    struct expr *a, *b; /* operands */
    const char *text;   /* root only */
};

static const struct symbol {
    const char *text;
    enum op op;
    int level; /* 0 loosest */
} BINARY[] = {
    {"==", OP_EQ, 0}, {"!=", OP_NE, 0}, {"<=", OP_LE, 0}, {">=", OP_GE, 0}, /* before < and > */
    {"<", OP_LT, 0},  {">", OP_GT, 0},  {"+", OP_ADD, 1}, {"-", OP_SUB, 1},
    {"*", OP_MUL, 2}, {"/", OP_DIV, 2}, {"%", OP_MOD, 2},
};
enum { BINARY_COUNT = sizeof BINARY / sizeof BINARY[0], TIGHTEST_BINARY = 2 };

static const struct function {
    const char *name;
    enum op op;
} FUNCTIONS[] = {
    {"min", OP_MIN},
    {"max", OP_MAX},
    {"ceil_div", OP_CEIL_DIV},
    {"align_up", OP_ALIGN_UP},
};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

struct parser {
    const char *text, *at;
    const struct expr_names *names;
    struct arena *arena;
    struct expr_error *error;
    unsigned depth, operands;
};

static struct expr *parse_binary(struct parser *p, int level);

static void skip_blanks(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
        p->at++;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Length of the word, number or single character (whole if UTF-8) at `s`. */
static size_t piece_length(const char *s)
{
    size_t n = 0;
    while (is_word(s[n]))
        n++;
    if (n == 0 && s[0])
        for (n = 1; ((unsigned char)s[n] & 0xc0) == 0x80; n++)
            ;
    return n;
}

static struct expr *fail(struct parser *p, const char *at, const char *allowed)
{
    p->error->offset = (size_t)(at - p->text);
    size_t length = piece_length(at);
    if (length == 0)
        snprintf(p->error->found, sizeof p->error->found, "the end of the expression");
    else
        snprintf(p->error->found, sizeof p->error->found, "'%.*s'", length > 60 ? 60 : (int)length,
                 at);
    snprintf(p->error->allowed, sizeof p->error->allowed, "%s", allowed);
    return NULL;
}

static struct expr *make(struct parser *p, enum op op, struct expr *a, struct expr *b)
{
    struct expr *x = arena_alloc(p->arena, sizeof *x);
    x->op = op;
    x->a = a;
    x->b = b;
    return x;
}

/* "a number, n, m, bytes(parameter) or a function": what may start an operand. */
static const char *operand_words(const struct parser *p)
{
    char words[200] = "a number, ";
    for (unsigned i = 0; i < p->names->variable_count; i++) {
        size_t used = strlen(words);
        if (used + strlen(p->names->variables[i]) + 80 > sizeof words)
            break;
        snprintf(words + used, sizeof words - used, "%s, ", p->names->variables[i]);
    }
    return arena_printf(p->arena, "%s%smin, max, ceil_div, align_up or (", words,
                        p->names->allow_bytes ? "bytes, " : "");
}

static struct expr *parse_number(struct parser *p)
{
    const char *start = p->at;
    int64_t v = 0;
    while (*p->at >= '0' && *p->at <= '9') {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p->at - '0', &v))
            return fail(p, start, "a number of at most 9223372036854775807");
        p->at++;
    }
    if (is_word(*p->at) || *p->at == '.')
        return fail(p, p->at, "whole numbers in decimal digits");
    struct expr *x = make(p, OP_NUMBER, NULL, NULL);
    x->number = v;
    return x;
}

static bool expect(struct parser *p, char c, const char *allowed)
{
    skip_blanks(p);
    if (*p->at != c) {
        fail(p, p->at, allowed);
        return false;
    }
    p->at++;
    return true;
}

static int find_name(const char *const *names, unsigned count, const char *s, size_t length)
{
    for (unsigned i = 0; i < count; i++)
        if (names[i] && strlen(names[i]) == length && memcmp(names[i], s, length) == 0)
            return (int)i;
    return -1;
}

static struct expr *parse_bytes(struct parser *p)
{
    if (!expect(p, '(', "( and a parameter's name"))
        return NULL;
    skip_blanks(p);
    size_t length = piece_length(p->at);
    int index = find_name(p->names->buffers, p->names->buffer_count, p->at, length);
    if (index < 0)
        return fail(p, p->at, "the name of a buffer parameter");
    p->at += length;
    if (!expect(p, ')', ") after the parameter's name"))
        return NULL;
    struct expr *x = make(p, OP_BYTES, NULL, NULL);
    x->index = (unsigned)index;
    return x;
}

static struct expr *parse_call(struct parser *p, enum op op)
{
    if (!expect(p, '(', "( and two arguments"))
        return NULL;
    struct expr *a = parse_binary(p, 0);
    if (!a || !expect(p, ',', ", and a second argument"))
        return NULL;
    struct expr *b = parse_binary(p, 0);
    if (!b || !expect(p, ')', ") after two arguments"))
        return NULL;
    return make(p, op, a, b);
}

static struct expr *parse_name(struct parser *p)
{
    const char *start = p->at;
    size_t length = piece_length(start);
    p->at += length;
    int variable = find_name(p->names->variables, p->names->variable_count, start, length);
    if (variable >= 0) {
        struct expr *x = make(p, OP_VARIABLE, NULL, NULL);
        x->index = (unsigned)variable;
        return x;
    }
    for (unsigned i = 0; i < FUNCTION_COUNT; i++)
        if (strlen(FUNCTIONS[i].name) == length && memcmp(FUNCTIONS[i].name, start, length) == 0)
            return parse_call(p, FUNCTIONS[i].op);
    if (p->names->allow_bytes && length == 5 && memcmp(start, "bytes", 5) == 0)
        return parse_bytes(p);
    return fail(p, start, operand_words(p));
}

/* A number, a name, a call, parentheses, or a sign before one of them. */
static struct expr *parse_operand(struct parser *p)
{
    skip_blanks(p);
    if (p->depth == EXPR_DEPTH_MAX)
        return fail(p, p->at, "at most 32 levels of nesting");
    if (p->operands++ == EXPR_OPERANDS_MAX)
        return fail(p, p->at, "at most 256 operands");
    p->depth++;
    struct expr *x;
    if (*p->at == '-') {
        p->at++;
        x = parse_operand(p);
        if (x)
            x = make(p, OP_NEGATE, x, NULL);
    } else if (*p->at == '(') {
        p->at++;
        x = parse_binary(p, 0);
        if (x && !expect(p, ')', "an operator or )"))
            x = NULL;
    } else if (*p->at >= '0' && *p->at <= '9') {
        x = parse_number(p);
    } else if (is_word(*p->at)) {
        x = parse_name(p);
    } else {
        x = fail(p, p->at, operand_words(p));
    }
    p->depth--;
    return x;
}

static const struct symbol *match_symbol(const char *s, int level)
{
    for (unsigned i = 0; i < BINARY_COUNT; i++)
        if (BINARY[i].level == level && strncmp(s, BINARY[i].text, strlen(BINARY[i].text)) == 0)
            return &BINARY[i];
    return NULL;
}

static struct expr *parse_binary(struct parser *p, int level)
{
    if (level > TIGHTEST_BINARY)
        return parse_operand(p);
    struct expr *x = parse_binary(p, level + 1);
    const struct symbol *s;
    for (unsigned used = 0; x; used++) {
        skip_blanks(p);
        if (!(s = match_symbol(p->at, level)))
            break;
        if (level == 0 && used == 1)
            return fail(p, p->at, "one comparison (use parentheses for more)");
        p->at += strlen(s->text);
        struct expr *b = parse_binary(p, level + 1);
        x = b ? make(p, s->op, x, b) : NULL;
    }
    return x;
}

struct expr *expr_parse(const char *text, const struct expr_names *names, struct arena *arena,
                        struct expr_error *error)
{
    struct parser p = {.text = text, .at = text, .names = names, .arena = arena, .error = error};
    struct expr *x = parse_binary(&p, 0);
    if (!x)
        return NULL;
    skip_blanks(&p);
    if (*p.at)
        return fail(&p, p.at, "an operator (+ - * / % == != < <= > >=) or the end");
    x->text = arena_strdup(arena, text);
    return x;
}

const char *expr_text(const struct expr *x)
{
    return x->text;
}

/* ---- evaluation ---- */

static int64_t floor_to_multiple(int64_t a, int64_t b)
{
    return a / b * b;
}

/* NULL, or what is wrong. */
static const char *apply(enum op op, int64_t a, int64_t b, int64_t *v)
{
    static const char *const overflow = "overflows 64 bits";
    switch (op) {
    case OP_NEGATE:
        return __builtin_sub_overflow((int64_t)0, a, v) ? overflow : NULL;
    case OP_ADD:
        return __builtin_add_overflow(a, b, v) ? overflow : NULL;
    case OP_SUB:
        return __builtin_sub_overflow(a, b, v) ? overflow : NULL;
    case OP_MUL:
        return __builtin_mul_overflow(a, b, v) ? overflow : NULL;
    case OP_DIV:
    case OP_MOD:
        if (b == 0)
            return "divides by zero";
        if (a == INT64_MIN && b == -1)
            return overflow;
        *v = op == OP_DIV ? a / b : a % b;
        return NULL;
    case OP_CEIL_DIV:
    case OP_ALIGN_UP:
        if (a < 0 || b <= 0)
            return "needs a first argument of at least 0 and a second of at least 1";
        if (op == OP_CEIL_DIV) {
            *v = a / b + (a % b != 0);
            return NULL;
        }
        *v = floor_to_multiple(a, b);
        return *v != a && __builtin_add_overflow(*v, b, v) ? overflow : NULL;
    case OP_EQ:
        *v = a == b;
        return NULL;
    case OP_NE:
        *v = a != b;
        return NULL;
    case OP_LE:
        *v = a <= b;
        return NULL;
    case OP_GE:
        *v = a >= b;
        return NULL;
    case OP_LT:
        *v = a < b;
        return NULL;
    case OP_GT:
        *v = a > b;
        return NULL;
    case OP_MIN:
        *v = a < b ? a : b;
        return NULL;
    case OP_MAX:
        *v = a > b ? a : b;
        return NULL;
    case OP_NUMBER:
    case OP_VARIABLE:
    case OP_BYTES:
        break;
    }
    BUG("expr: operator %d has operands", (int)op);
}

static const char *eval(const struct expr *x, const struct expr_values *values, int64_t *v)
{
    if (x->op == OP_NUMBER) {
        *v = x->number;
        return NULL;
    }
    if (x->op == OP_VARIABLE) {
        *v = values->variables[x->index];
        return NULL;
    }
    if (x->op == OP_BYTES) {
        if (values->buffer_bytes[x->index] > INT64_MAX)
            return "overflows 64 bits";
        *v = (int64_t)values->buffer_bytes[x->index];
        return NULL;
    }
    int64_t a = 0, b = 0;
    const char *wrong = eval(x->a, values, &a);
    if (!wrong && x->b)
        wrong = eval(x->b, values, &b);
    return wrong ? wrong : apply(x->op, a, b, v);
}

int expr_eval(const struct expr *x, const struct expr_values *values, int64_t *value, struct err *e)
{
    const char *wrong = eval(x, values, value);
    if (wrong)
        return err_set(e, "the expression '%.200s' %s", x->text, wrong);
    return 0;
}
