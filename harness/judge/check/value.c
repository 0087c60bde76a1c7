/* Every type is described by its size, its kind (wire/types.def) and, for floats, the row of
 * LAYOUTS below; nothing here asks for a particular type otherwise. */
#include "judge/check/value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct float_layout {
    enum wire_type type;
    int exponent_bits, mantissa_bits;
    int digits; /* decimal digits that tell every value apart */
};

static const struct float_layout LAYOUTS[] = {
    {WIRE_float16, 5, 10, 5},
    {WIRE_bfloat16, 8, 7, 4},
    {WIRE_float32, 8, 23, 9},
    {WIRE_float64, 11, 52, 17},
};

static const struct float_layout *layout_of(enum wire_type type)
{
    for (size_t i = 0; i < sizeof LAYOUTS / sizeof LAYOUTS[0]; i++)
        if (LAYOUTS[i].type == type)
            return &LAYOUTS[i];
    BUG("%s is not a float type", wire_type_name(type));
}

struct series series_of(const void *bytes, enum wire_type type, uint64_t count)
{
    return (struct series){.bytes = bytes,
                           .type = type,
                           .size = wire_type_bytes(type),
                           .kind = wire_type_kind(type),
                           .count = count};
}

double float_decode(enum wire_type type, uint64_t bits)
{
    const struct float_layout *f = layout_of(type);
    uint64_t mantissa = bits & (((uint64_t)1 << f->mantissa_bits) - 1);
    int all_ones = (1 << f->exponent_bits) - 1, bias = all_ones >> 1;
    int exponent = (int)(bits >> f->mantissa_bits) & all_ones;
    double value;
    if (exponent == all_ones)
        value = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp((double)mantissa, 1 - bias - f->mantissa_bits);
    else
        value = ldexp((double)(mantissa | (uint64_t)1 << f->mantissa_bits),
                      exponent - bias - f->mantissa_bits);
    return bits >> (f->exponent_bits + f->mantissa_bits) & 1 ? -value : value;
}

int64_t float_order(enum wire_type type, uint64_t bits)
{
    const struct float_layout *f = layout_of(type);
    uint64_t sign = (uint64_t)1 << (f->exponent_bits + f->mantissa_bits);
    int64_t magnitude = (int64_t)(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
}

double float_unit(enum wire_type type)
{
    return ldexp(1.0, -layout_of(type)->mantissa_bits - 1);
}

double series_double(const struct series *s, uint64_t index)
{
    uint64_t bits = series_bits(s, index);
    if (s->type == WIRE_float32) { /* the common one, without the detour */
        float value;
        uint32_t low = (uint32_t)bits;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    if (series_is_float(s))
        return float_decode(s->type, bits);
    if (s->kind == 'u')
        return (double)bits;
    return (double)value_extend(bits, s->size, true);
}

int64_t series_int_of_float(const struct series *s, uint64_t index)
{
    double value = series_double(s, index);
    if (isnan(value))
        return 0;
    if (value >= 0x1p63)
        return INT64_MAX;
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

bool series_is_nan(const struct series *s, uint64_t index)
{
    return series_is_float(s) && isnan(series_double(s, index));
}

int64_t series_difference_of_floats(const struct series *a, uint64_t i, const struct series *b,
                                    uint64_t j)
{
    double difference = series_double(a, i) - series_double(b, j);
    if (difference == 0)
        return 0;
    int64_t token;
    memcpy(&token, &difference, sizeof token);
    return token;
}

static double token_double(int64_t token)
{
    double value;
    memcpy(&value, &token, sizeof value);
    return value;
}

int difference_sign(const struct series *s, int64_t difference)
{
    if (!series_is_float(s))
        return (difference > 0) - (difference < 0);
    if (difference == 0)
        return 0;
    return token_double(difference) < 0 ? -1 : 1;
}

const char *difference_print(const struct series *s, int64_t difference, struct arena *arena)
{
    if (series_is_float(s))
        return arena_printf(arena, "%.9g", fabs(token_double(difference)));
    uint64_t magnitude = difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
    return arena_printf(arena, "%" PRIu64, magnitude);
}

const char *difference_print_signed(const struct series *s, int64_t difference, struct arena *arena)
{
    return arena_printf(arena, "%s%s", difference_sign(s, difference) < 0 ? "-" : "",
                        difference_print(s, difference, arena));
}

const char *value_print(enum wire_type type, uint64_t bits, struct arena *arena)
{
    char kind = wire_type_kind(type);
    if (kind == 's')
        return arena_printf(arena, "%" PRId64, value_extend(bits, wire_type_bytes(type), true));
    if (kind == 'u')
        return arena_printf(arena, "%" PRIu64, bits);
    return arena_printf(arena, "%.*g", layout_of(type)->digits, float_decode(type, bits));
}

void value_print_pair(enum wire_type type, uint64_t a, uint64_t b, struct arena *arena,
                      const char **a_text, const char **b_text)
{
    *a_text = value_print(type, a, arena);
    *b_text = value_print(type, b, arena);
    if (strcmp(*a_text, *b_text) != 0)
        return;
    int digits = 2 * (int)wire_type_bytes(type); /* NaNs with different bits */
    *a_text = arena_printf(arena, "%s (0x%0*" PRIx64 ")", *a_text, digits, a);
    *b_text = arena_printf(arena, "%s (0x%0*" PRIx64 ")", *b_text, digits, b);
}
