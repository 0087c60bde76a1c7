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
#include <string.h>

struct series {
    const uint8_t *bytes; /* NULL = there is none */
    enum wire_type type;
    unsigned size; /* bytes of an element */
    char kind;     /* 's', 'u', 'f' */
    uint64_t count;
};

struct series series_of(const void *bytes, enum wire_type type, uint64_t count);

/* The element's bits, zero-extended. Inline: a large wrong answer is gone over many times. */
static inline uint64_t series_bits(const struct series *s, uint64_t index)
{
    const uint8_t *at = s->bytes + index * s->size;
    uint64_t bits = 0; /* little-endian: the low bytes come first */
    if (s->size == 4) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        return word;
    }
    memcpy(&bits, at, s->size);
    return bits;
}

static inline bool series_is_float(const struct series *s)
{
    return s->kind == 'f';
}

/* The low `size` bytes of `bits` as a signed or unsigned number. */
static inline int64_t value_extend(uint64_t bits, unsigned size, bool is_signed)
{
    unsigned shift = 64 - 8 * size;
    return is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

/* The value: exact for every type but 64-bit integers past 2^53. */
double series_double(const struct series *s, uint64_t index);
/* A float truncated, clamped to int64; NaN is 0. */
int64_t series_int_of_float(const struct series *s, uint64_t index);
/* Integers sign- or zero-extended; floats truncated. */
static inline int64_t series_int(const struct series *s, uint64_t index)
{
    if (series_is_float(s))
        return series_int_of_float(s, index);
    return value_extend(series_bits(s, index), s->size, s->kind == 's');
}
bool series_is_nan(const struct series *s, uint64_t index);

/* a[i] - b[j] in the type's own arithmetic, as a token that is equal exactly when the differences
 * are. 0 means equal values. Both of the same kind and size. */
int64_t series_difference_of_floats(const struct series *a, uint64_t i, const struct series *b,
                                    uint64_t j);
static inline int64_t series_difference(const struct series *a, uint64_t i, const struct series *b,
                                        uint64_t j)
{
    if (series_is_float(a))
        return series_difference_of_floats(a, i, b, j);
    /* Signed also for unsigned types: "short by 3" reads better than "4294967293 too many". */
    return value_extend(series_bits(a, i) - series_bits(b, j), a->size, true);
}
/* Sign of a difference: -1, 0, 1. NaN counts as 1. */
int difference_sign(const struct series *s, int64_t difference);
/* |difference| for people, and with its sign. */
const char *difference_print(const struct series *s, int64_t difference, struct arena *arena);
const char *difference_print_signed(const struct series *s, int64_t difference,
                                    struct arena *arena);

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
