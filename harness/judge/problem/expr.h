/* expr: integer expressions over the variables of a case, `align_up(4 * ceil_div(n, 256), 256)`.
 *
 * Parsed once, evaluated for every case. All arithmetic is int64; overflow, division by zero and
 * a negative argument of ceil_div are errors, never wrapped results. `/` and `%` truncate as in C.
 * Loosest to tightest: == != < <= > >= (1 or 0, not chained); + -; * / %; unary -.
 * Functions: min max ceil_div align_up, and bytes(parameter), the size of a buffer, where allowed.
 * An expression lives in the arena it was parsed into. */
#ifndef JUDGE_PROBLEM_EXPR_H
#define JUDGE_PROBLEM_EXPR_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPR_DEPTH_MAX = 32, EXPR_OPERANDS_MAX = 256 };

struct expr_names {
    const char *const *variables;
    unsigned variable_count;
    const char *const *buffers; /* what bytes() takes, by index; NULL entries take no part */
    unsigned buffer_count;
    bool allow_bytes;
};

struct expr_values {
    const int64_t *variables;
    const uint64_t *buffer_bytes; /* NULL if no expression used bytes() */
};

struct expr_error { /* found and allowed are whole phrases */
    size_t offset;  /* in the text, of the character that is wrong */
    char found[128], allowed[256];
};

/* NULL with *error filled if `text` is no expression. */
struct expr *expr_parse(const char *text, const struct expr_names *names, struct arena *arena,
                        struct expr_error *error);

/* 0 and *value, or -1 and a sentence that quotes the expression. */
int expr_eval(const struct expr *x, const struct expr_values *values, int64_t *value,
              struct err *e);

/* The text it was parsed from. */
const char *expr_text(const struct expr *x);

#endif
