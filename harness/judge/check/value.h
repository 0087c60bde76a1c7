/* value: one element of a buffer, whatever its type.
 *
 * Elements are read with memcpy (a buffer may be misaligned on purpose). A series is a read-only
 * array of elements of one wire type; arithmetic on it wraps for integers and is done in double for
 * floats, which is exact for the integer-valued floats that scans are tested with. */
#ifndef JUDGE_CHECK_VALUE_H
#define JUDGE_CHECK_VALUE_H

#include "base/arena.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct series {
    const uint8_t *bytes; /* NULL = there is none */
    enum wire_type type;
    unsigned size; /* bytes of an element */
    uint64_t count;
};

struct series series_of(const void *bytes, enum wire_type type, uint64_t count);

/* The element's bits, zero-extended. */
uint64_t series_bits(const struct series *s, uint64_t index);
/* The value: exact for every type but 64-bit integers past 2^53. */
double series_double(const struct series *s, uint64_t index);
/* Integers sign- or zero-extended; floats truncated, clamped to int64. */
int64_t series_int(const struct series *s, uint64_t index);
bool series_is_nan(const struct series *s, uint64_t index);
bool series_is_float(const struct series *s);

/* a[i] - b[j] in the type's own arithmetic, as a token that is equal exactly when the differences
 * are. 0 means equal values. Both of the same kind and size. */
int64_t series_difference(const struct series *a, uint64_t i, const struct series *b, uint64_t j);
/* Sign of a difference: -1, 0, 1. NaN counts as 1. */
int difference_sign(const struct series *s, int64_t difference);
/* |difference| for people. */
const char *difference_print(const struct series *s, int64_t difference, struct arena *arena);

/* An element for people: integers in decimal, floats with the fewest digits that tell every value
 * of the type apart. */
const char *value_print(enum wire_type type, uint64_t bits, struct arena *arena);
/* Two different elements, printed so that the texts differ too (bits are added where needed). */
void value_print_pair(enum wire_type type, uint64_t a, uint64_t b, struct arena *arena,
                      const char **a_text, const char **b_text);

/* The double that these bits mean, for a float type. */
double float_decode(enum wire_type type, uint64_t bits);
/* Position of a float's bits in the order of its values: neighbours differ by 1, -0 and +0 by 0. */
int64_t float_order(enum wire_type type, uint64_t bits);
/* Unit round-off of a float type: 2^-24 for float32. */
double float_unit(enum wire_type type);

#endif
