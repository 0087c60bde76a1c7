#include "judge/mutate/tokens.h"

#include <ctype.h>
#include <string.h>

static const char *const OPERATORS[] = {
    "<<<", ">>>", "<<=", ">>=", "...", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+=",  "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "++", "--", "->", "::", "##", NULL};

struct cursor {
    const char *s;
    size_t at, length;
    unsigned line;
};

static bool here(const struct cursor *c, const char *text)
{
    size_t n = strlen(text);
    return c->at + n <= c->length && memcmp(c->s + c->at, text, n) == 0;
}

static void step(struct cursor *c, size_t count)
{
    for (; count && c->at < c->length; count--)
        c->line += c->s[c->at++] == '\n';
}

/* A line that ends with a backslash goes on. */
static void skip_line(struct cursor *c)
{
    while (c->at < c->length && c->s[c->at] != '\n')
        step(c, c->s[c->at] == '\\' ? 2 : 1);
}

static void skip_comment(struct cursor *c)
{
    step(c, 2);
    while (c->at < c->length && !here(c, "*/"))
        step(c, 1);
    step(c, 2);
}

static void skip_text(struct cursor *c)
{
    char quote = c->s[c->at];
    step(c, 1);
    while (c->at < c->length && c->s[c->at] != quote && c->s[c->at] != '\n')
        step(c, c->s[c->at] == '\\' ? 2 : 1);
    step(c, 1);
}

/* R"tag( ... )tag" */
static void skip_raw_text(struct cursor *c)
{
    char end[20] = ")";
    size_t tag = 0;
    step(c, 2);
    while (tag < 16 && c->at + tag < c->length && c->s[c->at + tag] != '(')
        tag++;
    memcpy(end + 1, c->s + c->at, c->at + tag <= c->length ? tag : 0);
    strcpy(end + 1 + tag, "\"");
    while (c->at < c->length && !here(c, end))
        step(c, 1);
    step(c, strlen(end));
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static enum token_kind read_token(struct cursor *c)
{
    char first = c->s[c->at];
    if (here(c, "R\"")) {
        skip_raw_text(c);
        return TOKEN_TEXT;
    }
    if (first == '"' || first == '\'') {
        skip_text(c);
        return TOKEN_TEXT;
    }
    if (isdigit((unsigned char)first)) {
        while (c->at < c->length && (is_word(c->s[c->at]) || c->s[c->at] == '.' ||
                                     (c->s[c->at] == '\'' && is_word(c->s[c->at + 1]))))
            step(c, 1);
        return TOKEN_NUMBER;
    }
    if (is_word(first)) {
        while (c->at < c->length && is_word(c->s[c->at]))
            step(c, 1);
        return TOKEN_WORD;
    }
    for (int i = 0; OPERATORS[i]; i++)
        if (here(c, OPERATORS[i])) {
            step(c, strlen(OPERATORS[i]));
            return TOKEN_OPERATOR;
        }
    step(c, 1);
    return TOKEN_OPERATOR;
}

void tokens_read(const char *source, size_t length, struct arena *arena, struct tokens *t)
{
    struct cursor c = {.s = source, .length = length, .line = 1};
    bool line_begins = true;
    *t = (struct tokens){.source = source, .length = length};
    t->items = arena_array(arena, length + 1, sizeof *t->items); /* a token has a byte at least */
    while (c.at < c.length) {
        if (isspace((unsigned char)source[c.at])) {
            line_begins |= source[c.at] == '\n';
            step(&c, 1);
        } else if (here(&c, "//") || (line_begins && source[c.at] == '#')) {
            skip_line(&c);
        } else if (here(&c, "/*")) {
            skip_comment(&c);
        } else {
            struct token *token = &t->items[t->count++];
            token->at = c.at;
            token->line = c.line;
            token->kind = read_token(&c);
            token->length = c.at - token->at;
            line_begins = false;
        }
    }
}

bool token_is(const struct tokens *t, size_t i, const char *text)
{
    return i < t->count && t->items[i].length == strlen(text) &&
           memcmp(t->source + t->items[i].at, text, t->items[i].length) == 0;
}

bool token_is_kind(const struct tokens *t, size_t i, enum token_kind kind)
{
    return i < t->count && t->items[i].kind == kind;
}

size_t token_close(const struct tokens *t, size_t i)
{
    int depth = 0;
    for (; i < t->count; i++) {
        if (t->items[i].length != 1)
            continue;
        char c = t->source[t->items[i].at];
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (depth == 0)
            return i;
    }
    return t->count;
}

const char *tokens_text(const struct tokens *t, size_t from, size_t to, struct arena *arena)
{
    size_t at = t->items[from].at;
    return arena_strndup(arena, t->source + at, t->items[to].at + t->items[to].length - at);
}
