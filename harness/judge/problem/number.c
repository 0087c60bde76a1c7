/* How it works: blocks of int64, double or raw bits are narrowed with one loop per target type, so
 * that the compiler vectorises each; the type is looked at once per block. */
#include "judge/problem/number.h"

#include "base/err.h"

#include <string.h>

bool number_is_float(enum wire_type type)
{
    return wire_type_kind(type) == 'f';
}

int64_t number_max(enum wire_type type)
{
    struct number_format f = number_format(type);
    if (f.mantissa_bits)
        return (int64_t)1 << (f.mantissa_bits + 1);
    unsigned bits = wire_type_bytes(type) * 8;
    if (bits == 64)
        return INT64_MAX;
    return ((int64_t)1 << (wire_type_kind(type) == 's' ? bits - 1 : bits)) - 1;
}

int64_t number_min(enum wire_type type)
{
    if (wire_type_kind(type) == 'u')
        return 0;
    return number_is_float(type) ? -number_max(type) : -number_max(type) - 1;
}

/* Of a type that is a float; float64 is the last one left. */
static struct number_format float_format(enum wire_type type)
{
    if (type == WIRE_float16)
        return (struct number_format){5, 10};
    if (type == WIRE_bfloat16)
        return (struct number_format){8, 7};
    if (type == WIRE_float32)
        return (struct number_format){8, 23};
    return (struct number_format){11, 52};
}

struct number_format number_format(enum wire_type type)
{
    return number_is_float(type) ? float_format(type) : (struct number_format){0, 0};
}

uint64_t number_from_double(enum wire_type type, double v)
{
    uint64_t d;
    memcpy(&d, &v, 8);
    struct number_format f = float_format(type);
    if (f.mantissa_bits == 52)
        return d;
    int target_bias = (1 << (f.exponent_bits - 1)) - 1;
    int exponent_max = (1 << f.exponent_bits) - 1;
    uint64_t sign = d >> 63 << (f.exponent_bits + f.mantissa_bits);
    uint64_t infinity = (uint64_t)exponent_max << f.mantissa_bits;
    int exponent = (int)(d >> 52 & 0x7ff);
    uint64_t mantissa = d & 0xfffffffffffffu;
    if (exponent == 0x7ff)
        return sign | infinity | (mantissa ? (uint64_t)1 << (f.mantissa_bits - 1) : 0);
    if (exponent == 0)
        return sign; /* zero, or a double subnormal: far below every target's smallest */
    mantissa |= (uint64_t)1 << 52;
    exponent += target_bias - 1023;
    unsigned shift = 52 - f.mantissa_bits;
    if (exponent <= 0) { /* subnormal in the target: shift further */
        if (1 - exponent > 54 - (int)shift)
            return sign;
        shift += (unsigned)(1 - exponent);
        exponent = 0;
    }
    uint64_t kept = mantissa >> shift, rest = mantissa & (((uint64_t)1 << shift) - 1);
    uint64_t half = (uint64_t)1 << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* A normal's hidden bit adds one to the exponent field; so does a carry out of the mantissa. */
    uint64_t bits = kept + ((uint64_t)(exponent > 0 ? exponent - 1 : 0) << f.mantissa_bits);
    return sign | (bits >= infinity ? infinity : bits);
}

double number_to_double(enum wire_type type, uint64_t bits)
{
    struct number_format f = float_format(type);
    double v;
    if (f.mantissa_bits != 52) {
        uint64_t sign = bits >> (f.exponent_bits + f.mantissa_bits) & 1;
        uint64_t exponent = bits >> f.mantissa_bits & ((1u << f.exponent_bits) - 1);
        uint64_t mantissa = bits & (((uint64_t)1 << f.mantissa_bits) - 1);
        int bias = (1 << (f.exponent_bits - 1)) - 1;
        if (exponent == 0) { /* mantissa * 2^(1 - bias - mantissa_bits), exact in double */
            uint64_t scale = (uint64_t)(1023 + 1 - bias - (int)f.mantissa_bits) << 52;
            memcpy(&v, &scale, 8);
            v *= (double)mantissa;
            return sign ? -v : v;
        }
        exponent =
            exponent == (1u << f.exponent_bits) - 1 ? 0x7ff : exponent + (uint64_t)(1023 - bias);
        bits = sign << 63 | exponent << 52 | mantissa << (52 - f.mantissa_bits);
    }
    memcpy(&v, &bits, 8);
    return v;
}

/* One loop per C type; the 16-bit floats go through number_from_double(). */
#define STORE_AS(c_type)                                                                           \
    do {                                                                                           \
        c_type *to = (c_type *)array + at;                                                         \
        for (unsigned i = 0; i < count; i++)                                                       \
            to[i] = (c_type)values[i];                                                             \
        return;                                                                                    \
    } while (0)

void number_store_integers(enum wire_type type, void *array, uint64_t at, const int64_t *values,
                           unsigned count)
{
    switch (type) {
    case WIRE_int8:
    case WIRE_uint8:
    case WIRE_void:
        STORE_AS(uint8_t);
    case WIRE_int16:
    case WIRE_uint16:
        STORE_AS(uint16_t);
    case WIRE_int32:
    case WIRE_uint32:
        STORE_AS(uint32_t);
    case WIRE_int64:
    case WIRE_uint64:
    case WIRE_size_t:
        STORE_AS(uint64_t);
    case WIRE_float32:
        STORE_AS(float);
    case WIRE_float64:
        STORE_AS(double);
    case WIRE_float16:
    case WIRE_bfloat16:
        for (unsigned i = 0; i < count; i++)
            ((uint16_t *)array)[at + i] = (uint16_t)number_from_double(type, (double)values[i]);
        return;
    case WIRE_TYPE_COUNT:
        break;
    }
    BUG("number: type %d", (int)type);
}

void number_store_reals(enum wire_type type, void *array, uint64_t at, const double *values,
                        unsigned count)
{
    if (type == WIRE_float32)
        STORE_AS(float);
    if (type == WIRE_float64)
        STORE_AS(double);
    if (!number_is_float(type))
        BUG("number: reals into %s", wire_type_name(type));
    for (unsigned i = 0; i < count; i++)
        ((uint16_t *)array)[at + i] = (uint16_t)number_from_double(type, values[i]);
}

void number_store_bits(enum wire_type type, void *array, uint64_t at, const uint64_t *values,
                       unsigned count)
{
    switch (wire_type_bytes(type)) {
    case 1:
        STORE_AS(uint8_t);
    case 2:
        STORE_AS(uint16_t);
    case 4:
        STORE_AS(uint32_t);
    case 8:
        STORE_AS(uint64_t);
    default:
        BUG("number: elements of %u bytes", wire_type_bytes(type));
    }
}
