/* utf8: reading UTF-8 that may be broken. */
#ifndef JUDGE_REPORT_UTF8_H
#define JUDGE_REPORT_UTF8_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* The character at `s` (NUL-terminated, not empty) and its length in bytes; 0 where `s` does not
 * begin with a well-formed one (overlong forms, surrogates and values past 10FFFF are not). */
unsigned utf8_read(const char *s, uint32_t *character);

/* Adds `s` with U+FFFD in place of every byte that is not part of a well-formed character. */
void utf8_add_valid(struct text *out, const char *s);

/* Characters past ASCII that change how the text around them is shown: C1 controls, marks and
 * overrides of direction, zero widths; and what is no character. */
bool utf8_is_invisible(uint32_t c);

/* Columns that `s` takes on a terminal: East Asian wide characters take two. */
unsigned utf8_columns(const char *s);

#endif
