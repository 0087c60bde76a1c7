/* number: the element types of wire/types.def as numbers: ranges, rounding, storing.
 *
 * float16 and bfloat16 are rounded to nearest even straight from double, never through float. */
#ifndef JUDGE_PROBLEM_NUMBER_H
#define JUDGE_PROBLEM_NUMBER_H

#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* Lowest and highest value as int64 (uint64's highest is given as INT64_MAX; a float type's is
 * the largest power of two up to which it holds every whole number). */
int64_t number_min(enum wire_type type);
int64_t number_max(enum wire_type type);

bool number_is_float(enum wire_type type);

/* Layout of a float type: exponent and mantissa bits, 0 for an integer type. */
struct number_format {
    unsigned exponent_bits, mantissa_bits;
};
struct number_format number_format(enum wire_type type);

/* The bits of the nearest float of this type (ties to even, overflow to infinity). */
uint64_t number_from_double(enum wire_type type, double v);
double number_to_double(enum wire_type type, uint64_t bits);

/* Stores `count` values at element `at` of an array of `type`. Integers wrap into integer types
 * and are rounded into float types. */
void number_store_integers(enum wire_type type, void *array, uint64_t at, const int64_t *values,
                           unsigned count);
void number_store_reals(enum wire_type type, void *array, uint64_t at, const double *values,
                        unsigned count);
void number_store_bits(enum wire_type type, void *array, uint64_t at, const uint64_t *values,
                       unsigned count);

#endif
