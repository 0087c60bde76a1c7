/* cvt: every type to every type. Rounding to float and double is left to the floating-point unit;
 * half precision is rounded by scalar_round_to(). */
#include "cpu/vm/scalar_bits.h"

#include <math.h>

static double to_integral(double x, enum ptx_round round)
{
    switch ((int)round) {
    case PTX_RZI:
    case PTX_RZ:
        return trunc(x);
    case PTX_RMI:
    case PTX_RM:
        return floor(x);
    case PTX_RPI:
    case PTX_RP:
        return ceil(x);
    default:
        return nearbyint(x);
    }
}

static uint64_t float_to_integer(double x, ins *in)
{
    enum ptx_type to = (enum ptx_type)in->type;
    unsigned bits = bits_in(to);
    uint64_t top = 1ull << (bits - 1);
    if (isnan(x)) /* PTX ISA, "cvt": 0, but the top bit of doubles and of 64-bit results */
        return bits < 64 && in->src_type != PTX_F64 ? 0 : ptx_type_is_signed(to) ? 0 - top : top;
    x = to_integral(x, (enum ptx_round)in->round);
    if (ptx_type_is_signed(to)) {
        double most = ldexp(1.0, (int)bits - 1);
        if (x >= most)
            return (1ull << (bits - 1)) - 1;
        return x < -most ? (uint64_t)(INT64_MIN >> (64 - bits)) : (uint64_t)(int64_t)x;
    }
    if (x >= ldexp(1.0, (int)bits))
        return bits == 64 ? ~0ull : (1ull << bits) - 1;
    return x <= 0 ? 0 : (uint64_t)x;
}

/* As a double, with a last bit of 1 if anything was lost: rounding it again gives what rounding
 * once would have given. */
static double to_odd(uint64_t m)
{
    int exponent = 0;
    uint64_t lost = 0;
    for (; m >> 53; m >>= 1, exponent++)
        lost |= m & 1;
    return ldexp((double)(m | lost), exponent);
}

/* An integer or double to float with a rounding: the unit does it. */
static uint64_t to_float(uint64_t magnitude, bool negative, ins *in)
{
    enum ptx_round round = (enum ptx_round)in->round;
    vm_scalar_fp_mode(round, 0);
    volatile uint64_t m = magnitude;
    uint64_t bits;
    if (in->type == PTX_F32) {
        volatile float x = negative ? (float)-(__int128)m : (float)m;
        bits = of_f32(x);
    } else if (in->type == PTX_F64) {
        volatile double x = negative ? (double)-(__int128)m : (double)m;
        bits = of_f64(x);
    } else {
        vm_scalar_fp_mode(0, 0);
        double x = negative ? -to_odd(magnitude) : to_odd(magnitude);
        bits = in->type == PTX_F16 ? vm_float_to_half(x, round ? round : PTX_RN)
                                   : vm_float_to_bfloat(x, round ? round : PTX_RN);
    }
    vm_scalar_fp_mode(0, 0);
    return bits;
}

static uint64_t integer_to_any(uint64_t a, ins *in)
{
    enum ptx_type to = (enum ptx_type)in->type, from = (enum ptx_type)in->src_type;
    unsigned bits = bits_in(from), to_bits = bits_in(to);
    bool s = ptx_type_is_signed(from);
    int64_t x = signed_of(a, bits);
    uint64_t u = unsigned_of(a, bits);
    if (ptx_type_is_float(to))
        return s && x < 0 ? to_float(0 - (uint64_t)x, true, in) : to_float(u, false, in);
    if (!(in->flags & PTX_F_SAT))
        return s ? (uint64_t)x : u;
    __int128 v = s ? (__int128)x : (__int128)u;
    bool to_signed = ptx_type_is_signed(to);
    __int128 most = ((__int128)1 << (to_bits - (to_signed ? 1 : 0))) - 1;
    __int128 least = to_signed ? -most - 1 : 0;
    return (uint64_t)(v > most ? most : v < least ? least : v);
}

static double read_float(uint64_t a, enum ptx_type type)
{
    switch ((int)type) {
    case PTX_F32:
    case PTX_TF32:
        return (double)f32_of(a);
    case PTX_F64:
        return f64_of(a);
    default:
        return scalar_read_half(a, type == PTX_F16);
    }
}

static uint64_t float_to_float(double x, ins *in)
{
    enum ptx_round round = (enum ptx_round)in->round;
    bool integral = round == PTX_RNI || round == PTX_RZI || round == PTX_RMI || round == PTX_RPI;
    if (integral)
        x = to_integral(x, round);
    if (in->flags & PTX_F_SAT)
        x = x > 0 ? (x < 1 ? x : 1) : 0;
    if ((in->flags & PTX_F_RELU) && x < 0)
        x = 0;
    enum ptx_round kept = integral || round == PTX_ROUND_NONE ? PTX_RN : round;
    switch ((int)in->type) {
    case PTX_F32: {
        vm_scalar_fp_mode(kept, 0);
        volatile double wide = x;
        volatile float narrow = (float)wide;
        vm_scalar_fp_mode(0, 0);
        return of_f32(scalar_flush32(narrow, in));
    }
    case PTX_TF32: /* 10 bits of fraction in a 32-bit word */
        return of_f32(isfinite(x) && x != 0
                          ? (float)copysign(scalar_round_to(fabs(x), 10, -126, kept, signbit(x)), x)
                          : (float)x);
    case PTX_F64:
        return of_f64(x);
    case PTX_F16:
        return vm_float_to_half(x, kept);
    default:
        return vm_float_to_bfloat(x, kept);
    }
}

uint64_t vm_scalar_convert(uint64_t a, uint64_t b, uint64_t c, const struct ptx_instr *in)
{
    enum ptx_type to = (enum ptx_type)in->type, from = (enum ptx_type)in->src_type;
    (void)c;
    if (to == PTX_F16X2 || to == PTX_BF16X2) { /* d = {a high, b low} */
        struct ptx_instr one = *in;
        one.type = to == PTX_F16X2 ? PTX_F16 : PTX_BF16;
        return float_to_float(read_float(a, from), &one) << 16 |
               float_to_float(read_float(b, from), &one);
    }
    if (!ptx_type_is_float(from))
        return integer_to_any(a, in);
    double x = read_float(a, from);
    if ((in->flags & PTX_F_FTZ) && from == PTX_F32)
        x = (double)scalar_flush32((float)x, in);
    if (!ptx_type_is_float(to))
        return float_to_integer(x, in);
    bool same_kind = to == from && in->round == PTX_ROUND_NONE && !in->flags;
    return same_kind ? a : float_to_float(x, in);
}
