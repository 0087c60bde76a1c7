/* tokens: C++ source as a list of tokens, without comments and preprocessor lines.
 *
 * No parser: what a mutation needs is words, numbers, operators and matching brackets. */
#ifndef JUDGE_MUTATE_TOKENS_H
#define JUDGE_MUTATE_TOKENS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_OPERATOR };

struct token {
    enum token_kind kind;
    size_t at, length; /* in the source */
    unsigned line;     /* from 1 */
};

struct tokens {
    const char *source;
    size_t length;
    struct token *items;
    size_t count;
};

void tokens_read(const char *source, size_t length, struct arena *arena, struct tokens *t);

/* Is token i this one? false past either end, so that i - 1 and i + 1 need no care. */
bool token_is(const struct tokens *t, size_t i, const char *text);
bool token_is_kind(const struct tokens *t, size_t i, enum token_kind kind);
/* Where the bracket that opens at i closes; t->count if it does not. */
size_t token_close(const struct tokens *t, size_t i);
/* From the start of token `from` to the end of token `to`. */
const char *tokens_text(const struct tokens *t, size_t from, size_t to, struct arena *arena);

#endif
