/* names: words of a table, given by their address in its first row, the bytes of a row and the
 * number of rows. NAMES(table, field) is all three for an array of structs. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>

#define NAMES(table, field) &(table)[0].field, sizeof(table)[0], sizeof(table) / sizeof(table)[0]

/* The row with this word of `length` bytes; `count` if there is none. A row whose word is NULL has
 * none. */
size_t names_find(const char *const *first, size_t row_bytes, size_t count, const char *word,
                  size_t length);

#endif
