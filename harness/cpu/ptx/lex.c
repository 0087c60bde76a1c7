/* The text is scanned in place: there are no token objects. A copy of the text ends with a NUL,
 * which belongs to no character class, so every loop stops there without asking for the end.
 * Lines are counted where newlines are skipped. */
#include "cpu/ptx/parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START (CHAR_IDENT_START | CHAR_IDENT)
#define DIGIT (CHAR_DIGIT | CHAR_IDENT)
const uint8_t char_class[256] = {
    [' '] = CHAR_SPACE,    ['\t'] = CHAR_SPACE, ['\n'] = CHAR_SPACE,   ['\r'] = CHAR_SPACE,
    ['\v'] = CHAR_SPACE,   ['\f'] = CHAR_SPACE, ['0' ... '9'] = DIGIT, ['a' ... 'z'] = START,
    ['A' ... 'Z'] = START, ['_'] = START,       ['$'] = START,         ['%'] = START,
};

void *vec_push(struct vec *v, size_t bytes)
{
    if (v->count == v->capacity) {
        size_t capacity = v->capacity ? v->capacity * 2 : 64;
        void *data = reallocarray(v->data, capacity, bytes);
        if (!data)
            BUG("out of memory for %zu items of %zu bytes", capacity, bytes);
        v->data = data;
        v->capacity = capacity;
    }
    void *item = (char *)v->data + v->count++ * bytes;
    memset(item, 0, bytes);
    return item;
}

void vec_release(struct vec *v)
{
    free(v->data);
    *v = (struct vec){0};
}

int fail(struct parser *p, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return err_set(p->e, "PTX line %u: %s", p->line, text);
}

int fail_found(struct parser *p, const char *expected)
{
    skip_space(p);
    size_t length = 0;
    while (length < 60 && is_class(p->at[length], CHAR_IDENT))
        length++;
    if (p->at == p->end)
        return fail(p, "the text ends; expected %s", expected);
    if (length == 0 && (*p->at < ' ' || *p->at > '~'))
        return fail(p, "byte 0x%02x was found; expected %s", (unsigned char)*p->at, expected);
    return fail(p, "'%.*s' was found; expected %s", length ? (int)length : 1, p->at, expected);
}

void skip_space(struct parser *p)
{
    const char *s = p->at;
    for (;;) {
        if (*s == '\n') {
            p->line++;
            s++;
        } else if (is_class(*s, CHAR_SPACE)) {
            s++;
        } else if (s[0] == '/' && s[1] == '/') {
            const char *newline = memchr(s, '\n', (size_t)(p->end - s));
            s = newline ? newline : p->end;
        } else if (s[0] == '/' && s[1] == '*') {
            for (s += 2; s != p->end && !(s[0] == '*' && s[1] == '/'); s++)
                p->line += *s == '\n';
            if (s != p->end)
                s += 2;
        } else {
            break;
        }
    }
    p->at = s;
}

bool accept(struct parser *p, char c)
{
    if (next_char(p) != c)
        return false;
    p->at++;
    return true;
}

int expect(struct parser *p, char c)
{
    if (accept(p, c))
        return 0;
    char expected[] = {'\'', c, '\'', '\0'};
    return fail_found(p, expected);
}

size_t read_word(struct parser *p, const char **word)
{
    skip_space(p);
    const char *s = p->at;
    *word = s;
    if (!is_class(*s, CHAR_IDENT_START))
        return 0;
    while (is_class(*s, CHAR_IDENT))
        s++;
    p->at = s;
    return (size_t)(s - *word);
}

bool word_is(const char *word, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(word, expected, length) == 0;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* Digits of `base` at *s, at most `most` of them. False: none, or more than 64 bits. */
static bool read_digits(const char **s, unsigned base, unsigned most, uint64_t *out)
{
    uint64_t value = 0;
    unsigned count = 0;
    for (int d; count < most && (d = digit_value(**s)) < (int)base; ++*s, count++) {
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)d, &value))
            return false;
    }
    *out = value;
    return count > 0;
}

static bool looks_decimal_float(const char *s)
{
    while (is_class(*s, CHAR_DIGIT))
        s++;
    return *s == '.' || ((*s == 'e' || *s == 'E') &&
                         (is_class(s[1], CHAR_DIGIT) ||
                          ((s[1] == '+' || s[1] == '-') && is_class(s[2], CHAR_DIGIT))));
}

/* The literal without its sign. */
static bool read_magnitude(const char **s, struct number *out)
{
    const char *t = *s;
    if (!is_class(*t, CHAR_DIGIT))
        return false;
    bool zero = *t == '0';
    char kind = zero ? (char)(t[1] | 0x20) : '\0';
    out->type = PTX_S64;
    if (kind == 'f' || kind == 'd') {
        t += 2;
        const char *first = t;
        unsigned digits = kind == 'f' ? 8 : 16;
        out->type = kind == 'f' ? PTX_F32 : PTX_F64;
        if (!read_digits(&t, 16, digits, &out->bits) || t - first != (int)digits)
            return false;
    } else if (kind == 'x' || (kind == 'b' && (t[2] == '0' || t[2] == '1'))) {
        t += 2;
        if (!read_digits(&t, kind == 'x' ? 16 : 2, 64, &out->bits))
            return false;
    } else if (looks_decimal_float(t)) {
        char *after;
        double value = strtod(t, &after);
        memcpy(&out->bits, &value, sizeof value);
        out->type = PTX_F64;
        t = after;
    } else if (!read_digits(&t, zero && is_class(t[1], CHAR_DIGIT) ? 8 : 10, 64, &out->bits)) {
        return false;
    }
    if (out->type == PTX_S64) {
        if (*t == 'U') {
            t++;
            out->type = PTX_U64;
        } else if (out->bits > INT64_MAX) {
            out->type = PTX_U64;
        }
    }
    if (is_class(*t, CHAR_IDENT))
        return false;
    *s = t;
    return true;
}

/* Decimal integers of up to 18 digits, nearly all there are. False: read_magnitude() must look. */
static bool read_short_decimal(struct parser *p, uint64_t *out)
{
    const char *s = p->at;
    uint64_t value = 0;
    if (*s == '0' && is_class(s[1], CHAR_IDENT))
        return false;
    while (is_class(*s, CHAR_DIGIT))
        value = value * 10 + (uint64_t)(*s++ - '0');
    if (s == p->at || s - p->at > 18 || *s == '.' || is_class(*s, CHAR_IDENT))
        return false;
    p->at = s;
    *out = value;
    return true;
}

int read_number(struct parser *p, struct number *out)
{
    bool negative = false;
    while (next_char(p) == '-' || *p->at == '+') {
        negative ^= *p->at == '-';
        p->at++;
    }
    out->type = PTX_S64;
    if (!read_short_decimal(p, &out->bits) && !read_magnitude(&p->at, out))
        return 1;
    if (negative && out->type == PTX_F32)
        out->bits ^= 1u << 31;
    else if (negative && out->type == PTX_F64)
        out->bits ^= 1ull << 63;
    else if (negative)
        out->bits = 0 - out->bits;
    return 0;
}

int read_unsigned(struct parser *p, uint64_t most, const char *what, uint64_t *out)
{
    struct number n;
    if (!is_class(next_char(p), CHAR_DIGIT))
        return fail_found(p, what);
    const char *start = p->at;
    if (read_short_decimal(p, out) && *out <= most)
        return 0;
    p->at = start;
    if (read_number(p, &n) || (n.type != PTX_S64 && n.type != PTX_U64) || n.bits > most) {
        size_t length = 0;
        while (length < 40 && is_class(start[length], CHAR_IDENT))
            length++;
        return fail(p, "'%.*s' was found; expected %s up to %llu", (int)length, start, what,
                    (unsigned long long)most);
    }
    *out = n.bits;
    return 0;
}

int read_string(struct parser *p, const char **out)
{
    if (expect(p, '"'))
        return -1;
    const char *start = p->at;
    const char *s = start;
    while (*s != '"' && *s != '\n' && s != p->end)
        s++;
    if (*s != '"')
        return fail(p, "a string does not end on its line; expected '\"'");
    p->at = s + 1;
    *out = arena_strndup(p->arena, start, (size_t)(s - start));
    return 0;
}

/* Skips a balanced group that starts at p->at; strings inside may hold anything. */
static int skip_group(struct parser *p, char opening, char closing)
{
    uint32_t depth = 0, line = p->line;
    for (;;) {
        char c = next_char(p);
        if (p->at == p->end)
            return fail(p, "the '%c' of line %u is not closed; expected '%c'", opening, line,
                        closing);
        const char *string;
        if (c == '"') {
            if (read_string(p, &string))
                return -1;
            continue;
        }
        p->at++;
        if (c == opening)
            depth++;
        else if (c == closing && --depth == 0)
            return 0;
    }
}

int skip_braces(struct parser *p)
{
    return skip_group(p, '{', '}');
}

int skip_parentheses(struct parser *p)
{
    return skip_group(p, '(', ')');
}

int skip_statement(struct parser *p)
{
    uint32_t depth = 0;
    for (;;) {
        char c = next_char(p);
        if (p->at == p->end || (c == '}' && depth == 0))
            return fail_found(p, "';'");
        p->at++;
        if (c == ';' && depth == 0)
            return 0;
        depth += c == '{';
        depth -= c == '}';
    }
}
