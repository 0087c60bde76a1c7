/* text: a growing string of bytes, always followed by a NUL.
 *
 * `data` is NULL until something is added; text_str() never is. Out of memory is a BUG(). */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>

struct text {
    char *data;
    size_t length, capacity;
};

void text_init(struct text *t);
void text_release(struct text *t);
void text_clear(struct text *t); /* empty again, the memory is kept */

void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const void *bytes, size_t count);
void text_addc(struct text *t, char c);
void text_addf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a word as a shell reads it back: quoted where it has to be. */
void text_add_shell_word(struct text *t, const char *word);

/* The content as a C string, "" when empty. Valid until the next change. */
const char *text_str(const struct text *t);

#endif
