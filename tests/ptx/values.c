/* Values of case files: reading, comparing, printing. */
#include "value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *reg;
    enum ptx_type type;
    unsigned bytes;
} types[] = {
    {"pred", "pred", PTX_PRED, 4},    {"s8", "b32", PTX_S8, 1},   {"u8", "b32", PTX_U8, 1},
    {"b8", "b32", PTX_B8, 1},         {"s16", "b16", PTX_S16, 2}, {"u16", "b16", PTX_U16, 2},
    {"b16", "b16", PTX_B16, 2},       {"s32", "b32", PTX_S32, 4}, {"u32", "b32", PTX_U32, 4},
    {"b32", "b32", PTX_B32, 4},       {"s64", "b64", PTX_S64, 8}, {"u64", "b64", PTX_U64, 8},
    {"b64", "b64", PTX_B64, 8},       {"f16", "b16", PTX_F16, 2}, {"bf16", "b16", PTX_BF16, 2},
    {"f16x2", "b32", PTX_F16X2, 4},   {"f32", "f32", PTX_F32, 4}, {"f64", "f64", PTX_F64, 8},
    {"bf16x2", "b32", PTX_BF16X2, 4},
};

static size_t find(enum ptx_type t)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type == t)
            return i;
    }
    BUG("type %d has no row", t);
}

const char *type_name(enum ptx_type t)
{
    return types[find(t)].name;
}

const char *register_type(enum ptx_type t)
{
    return types[find(t)].reg;
}

unsigned memory_bytes(enum ptx_type t)
{
    return types[find(t)].bytes;
}

enum ptx_type type_by_text(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) == length && memcmp(types[i].name, text, length) == 0)
            return types[i].type;
    }
    return PTX_NONE;
}

static uint64_t width_mask(enum ptx_type t)
{
    unsigned bytes = memory_bytes(t);
    return bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;
}

static double as_double(uint64_t bits, enum ptx_type t)
{
    if (t == PTX_F32) {
        float f;
        uint32_t word = (uint32_t)bits;
        memcpy(&f, &word, sizeof f);
        return (double)f;
    }
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static bool is_nan(uint64_t bits, enum ptx_type t)
{
    switch ((int)t) {
    case PTX_F16:
        return (bits & 0x7fff) > 0x7c00;
    case PTX_BF16:
        return (bits & 0x7fff) > 0x7f80;
    case PTX_F32:
        return (bits & 0x7fffffff) > 0x7f800000;
    case PTX_F64:
        return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default:
        return false;
    }
}

/* Decimal text of a float type; false: not one. */
static bool read_float(const char *text, enum ptx_type t, uint64_t *bits)
{
    char *end;
    if (t == PTX_F32) {
        float f = strtof(text, &end);
        uint32_t word;
        memcpy(&word, &f, sizeof word);
        *bits = word;
    } else {
        double d = strtod(text, &end);
        memcpy(bits, &d, sizeof d);
    }
    return *text && !*end;
}

static bool read_integer(const char *text, enum ptx_type t, uint64_t *bits)
{
    char *end;
    bool negative = *text == '-';
    const char *digits = text + negative;
    if (*digits < '0' || *digits > '9')
        return false;
    uint64_t magnitude = strtoull(digits, &end, 0);
    if (*end)
        return false;
    uint64_t mask = width_mask(t);
    if (magnitude > mask || (negative && magnitude > mask / 2 + 1))
        return false; /* does not fit: a mistake in the case */
    *bits = (negative ? 0 - magnitude : magnitude) & mask;
    return true;
}

static bool read_plain(const char *text, enum ptx_type t, uint64_t *bits)
{
    bool ieee = t == PTX_F32 || t == PTX_F64;
    if (text[0] == '0' && (text[1] == 'f' || text[1] == 'd')) {
        char *end;
        *bits = strtoull(text + 2, &end, 16);
        return !*end && ieee && (text[1] == 'f') == (t == PTX_F32);
    }
    if (ieee && !(text[0] == '0' && text[1] == 'x'))
        return read_float(text, t, bits);
    return read_integer(text, t, bits);
}

bool value_read(char *text, enum ptx_type t, bool expected, struct value *out)
{
    *out = (struct value){.match = MATCH_BITS};
    if (expected && strcmp(text, "-") == 0) {
        out->match = MATCH_ANY;
        return true;
    }
    if (expected && strcmp(text, "nan") == 0) {
        out->match = MATCH_NAN;
        return ptx_type_is_float(t);
    }
    char *tolerance = strstr(text, "+-"), *end = NULL;
    if (tolerance)
        out->match = MATCH_ABSOLUTE;
    else if ((tolerance = strchr(text, '~')))
        out->match = MATCH_ULP;
    if (tolerance) {
        out->tolerance = strtod(tolerance + (*tolerance == '~' ? 1 : 2), &end);
        *tolerance = '\0';
        if (!expected || *end || (t != PTX_F32 && t != PTX_F64))
            return false;
    }
    return read_plain(text, t, &out->bits);
}

bool value_matches(const struct value *expected, uint64_t got, enum ptx_type t)
{
    switch ((enum match)expected->match) {
    case MATCH_ANY:
        return true;
    case MATCH_NAN:
        return is_nan(got, t);
    case MATCH_BITS:
        return got == expected->bits;
    case MATCH_ULP:
    case MATCH_ABSOLUTE:
        break;
    }
    double want = as_double(expected->bits, t), have = as_double(got, t);
    if (!isfinite(want) || !isfinite(have))
        return got == expected->bits;
    double distance = fabs(want - have);
    if (expected->match == MATCH_ABSOLUTE)
        return distance <= expected->tolerance;
    double ulp = t == PTX_F32 ? (double)nextafterf((float)fabs(want), INFINITY) - fabs(want)
                              : nextafter(fabs(want), INFINITY) - fabs(want);
    return distance <= ulp * expected->tolerance;
}

void value_print(uint64_t bits, enum ptx_type t, char *out, size_t bytes)
{
    if (t == PTX_F32 || t == PTX_F64)
        snprintf(out, bytes, "%.9g (0x%0*llx)", as_double(bits, t), t == PTX_F32 ? 8 : 16,
                 (unsigned long long)bits);
    else
        snprintf(out, bytes, "%lld (0x%llx)",
                 ptx_type_is_signed(t) && memory_bytes(t) == 4 ? (long long)(int32_t)bits
                                                               : (long long)bits,
                 (unsigned long long)bits);
}
