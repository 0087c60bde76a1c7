/* Scalar operations on floats, half precision included: it goes through double and is rounded once.
 * What PTX calls approximate is computed more exactly than it promises. */
#include "cpu/vm/scalar_bits.h"

#include <fenv.h>
#include <math.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* ---- the floating-point unit ---- */

void vm_scalar_fp_mode(uint32_t rounding, uint32_t flush)
{
    int mode = rounding == PTX_RZ   ? FE_TOWARDZERO
               : rounding == PTX_RM ? FE_DOWNWARD
               : rounding == PTX_RP ? FE_UPWARD
                                    : FE_TONEAREST;
    fesetround(mode);
#if defined(__x86_64__)
    _mm_setcsr((_mm_getcsr() & ~0x8040u) | (flush ? 0x8040u : 0));
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr = (fpcr & ~(1ull << 24)) | (flush ? 1ull << 24 : 0);
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#else
    (void)flush; /* elsewhere subnormals stay */
#endif
}

/* ---- half precision ---- */

float vm_bfloat_to_float(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

float vm_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31) {
        uint32_t bits = sign | 0x7f800000u | fraction << 13;
        float x;
        memcpy(&x, &bits, 4);
        return x;
    }
    float x = exponent ? ldexpf((float)(fraction | 1024), (int)exponent - 25)
                       : ldexpf((float)fraction, -24);
    return sign ? -x : x;
}

/* x, exactly, to `fraction_bits` after the point with exponents from `least` to `most`: rounds a
 * positive finite value to a multiple of the last place. */
double scalar_round_to(double x, int fraction_bits, int least, enum ptx_round round, bool negative)
{
    int exponent;
    frexp(x, &exponent); /* x = m * 2^exponent, 0.5 <= m < 1 */
    exponent = exponent - 1 < least ? least : exponent - 1;
    double place = ldexp(1.0, exponent - fraction_bits), q = x / place, low = floor(q);
    double rest = q - low;
    bool up = false;
    switch ((int)round) {
    case PTX_RZ:
        break;
    case PTX_RM:
        up = negative && rest > 0;
        break;
    case PTX_RP:
        up = !negative && rest > 0;
        break;
    case PTX_RNA:
        up = rest >= 0.5;
        break;
    default:
        up = rest > 0.5 || (rest == 0.5 && fmod(low, 2.0) != 0.0);
        break;
    }
    return (low + (up ? 1.0 : 0.0)) * place;
}

static uint16_t encode(double x, int fraction_bits, int exponent_bits, enum ptx_round round)
{
    int bias = (1 << (exponent_bits - 1)) - 1, least = 1 - bias;
    bool negative = signbit(x);
    uint32_t sign = negative ? 0x8000 : 0, top = (1u << exponent_bits) - 1;
    uint32_t infinity = top << fraction_bits;
    if (isnan(x))
        return 0x7fff;
    double a = fabs(x), largest = ldexp(2.0 - ldexp(1.0, -fraction_bits), bias);
    if (isinf(x))
        return (uint16_t)(sign | infinity);
    double r = a == 0 ? 0 : scalar_round_to(a, fraction_bits, least, round, negative);
    if (r > largest) {
        bool to_largest =
            round == PTX_RZ || (round == PTX_RM && !negative) || (round == PTX_RP && negative);
        return (uint16_t)(sign | (to_largest ? infinity - 1 : infinity));
    }
    if (r < ldexp(1.0, least)) /* subnormal, or zero */
        return (uint16_t)(sign | (uint32_t)ldexp(r, fraction_bits - least));
    int exponent;
    double m = frexp(r, &exponent);
    uint32_t fraction = (uint32_t)ldexp(m, fraction_bits + 1) - (1u << fraction_bits);
    return (uint16_t)(sign | (uint32_t)(exponent - 1 + bias) << fraction_bits | fraction);
}

uint16_t vm_float_to_half(double x, enum ptx_round round)
{
    return encode(x, 10, 5, round);
}

uint16_t vm_float_to_bfloat(double x, enum ptx_round round)
{
    return encode(x, 7, 8, round);
}

double scalar_read_half(uint64_t bits, bool half)
{
    return (double)(half ? vm_half_to_float((uint16_t)bits) : vm_bfloat_to_float((uint16_t)bits));
}

/* The sum of two doubles, rounded to odd: rounding it again to fewer bits is then exact. */
static double add_to_odd(double x, double y)
{
    double s = x + y;
    if (!isfinite(s))
        return s;
    double back = s - x, error = (x - (s - back)) + (y - back);
    uint64_t bits = of_f64(s);
    if (error == 0 || (bits & 1))
        return s;
    bool away = (error > 0) == (s > 0);
    return f64_of(away ? bits + 1 : bits - 1);
}

static uint64_t flush_narrow(uint64_t bits, bool half)
{
    uint64_t exponent = half ? 0x7c00 : 0x7f80;
    return bits & exponent ? bits : bits & 0x8000;
}

/* One element of a half-precision operation. */
static uint64_t narrow_op(uint64_t a, uint64_t b, uint64_t c, ins *in, bool half)
{
    bool flush = in->flags & PTX_F_FTZ;
    if (flush) {
        a = flush_narrow(a & 0xffff, half);
        b = flush_narrow(b & 0xffff, half);
        c = flush_narrow(c & 0xffff, half);
    }
    double x = scalar_read_half(a, half), y = scalar_read_half(b, half),
           z = scalar_read_half(c, half), r;
    switch ((int)in->op) {
    case PTX_OP_add:
        r = add_to_odd(x, y);
        break;
    case PTX_OP_sub:
        r = add_to_odd(x, -y);
        break;
    case PTX_OP_mul:
        r = x * y;
        break;
    case PTX_OP_fma:
    case PTX_OP_mad:
        r = add_to_odd(x * y, z);
        break;
    case PTX_OP_neg:
        return (a ^ 0x8000) & 0xffff;
    case PTX_OP_abs:
        return a & 0x7fff;
    case PTX_OP_min:
    case PTX_OP_max:
        if (in->flags & PTX_F_XORSIGN) { /* of the magnitudes; negative if one of the two is */
            uint64_t sign = (a ^ b) & 0x8000;
            a &= 0x7fff, b &= 0x7fff;
            if (isnan(x) || isnan(y))
                return (in->flags & PTX_F_NAN) || (isnan(x) && isnan(y))
                           ? 0x7fff
                           : sign | (isnan(x) ? b : a);
            return sign | ((a < b) == (in->op == PTX_OP_min) ? a : b);
        }
        if ((in->flags & PTX_F_NAN) && (isnan(x) || isnan(y)))
            return 0x7fff;
        if (isnan(x) || isnan(y))
            return isnan(x) && isnan(y) ? 0x7fff : (isnan(x) ? b : a) & 0xffff;
        if (x == y)
            return ((in->op == PTX_OP_min) == (signbit(x) != 0) ? a : b) & 0xffff;
        return ((x < y) == (in->op == PTX_OP_min) ? a : b) & 0xffff;
    case PTX_OP_ex2:
        r = exp2(x);
        break;
    case PTX_OP_tanh:
        r = tanh(x);
        break;
    default:
        r = x;
        break;
    }
    if (in->flags & PTX_F_SAT)
        r = r > 0 ? (r < 1 ? r : 1) : 0;
    if ((in->flags & PTX_F_RELU) && !(r > 0))
        r = isnan(r) ? r : 0;
    enum ptx_round round = in->round == PTX_ROUND_NONE ? PTX_RN : (enum ptx_round)in->round;
    uint64_t bits = half ? vm_float_to_half(r, round) : vm_float_to_bfloat(r, round);
    return flush ? flush_narrow(bits, half) : bits;
}

uint64_t scalar_half(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    bool half = in->type == PTX_F16 || in->type == PTX_F16X2;
    uint64_t low = narrow_op(a, b, c, in, half);
    if (in->type == PTX_F16 || in->type == PTX_BF16)
        return low;
    return low | narrow_op(a >> 16, b >> 16, c >> 16, in, half) << 16;
}

/* ---- floats ---- */

float scalar_flush32(float x, ins *in)
{
    return (in->flags & PTX_F_FTZ) && fpclassify(x) == FP_SUBNORMAL ? copysignf(0.0f, x) : x;
}

static uint64_t pick32(uint64_t a, uint64_t b, ins *in)
{
    float x = scalar_flush32(f32_of(a), in), y = scalar_flush32(f32_of(b), in), r;
    bool least = in->op == PTX_OP_min;
    if ((in->flags & PTX_F_XORSIGN)) {
        bool negative = signbit(x) != signbit(y);
        float p = fabsf(x), q = fabsf(y);
        if (isnan(p) || isnan(q))
            r = in->flags & PTX_F_NAN ? NAN : (isnan(p) ? q : p);
        else
            r = least ? fminf(p, q) : fmaxf(p, q);
        return isnan(r) ? 0x7fffffffu : of_f32(negative ? -r : r);
    }
    if (isnan(x) || isnan(y))
        return (in->flags & PTX_F_NAN) || (isnan(x) && isnan(y)) ? 0x7fffffffu
                                                                 : of_f32(isnan(x) ? y : x);
    if (x == y)
        return of_f32(least == (signbit(x) != 0) ? x : y);
    return of_f32((x < y) == least ? x : y);
}

/* Of three, or of magnitudes: one pair after the other. */
static uint64_t pick32_of_three(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    uint64_t kept = in->flags & PTX_F_ABS ? 0x7fffffffu : 0xffffffffu;
    return pick32(pick32(a & kept, b & kept, in), c & kept, in);
}

uint64_t scalar_float32(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    float x = scalar_flush32(f32_of(a), in), r;
    switch ((int)in->op) {
    case PTX_OP_min:
    case PTX_OP_max:
        return in->operand_count == 4 ? pick32_of_three(a, b, c, in) : pick32(a, b, in);
    case PTX_OP_neg:
        return of_f32(x) ^ 0x80000000u;
    case PTX_OP_abs:
        return of_f32(x) & 0x7fffffffu;
    case PTX_OP_copysign: /* d = b with the sign of a */
        return ((uint32_t)b & 0x7fffffffu) | ((uint32_t)a & 0x80000000u);
    case PTX_OP_ex2:
        r = exp2f(x);
        break;
    case PTX_OP_lg2:
        r = log2f(x);
        break;
    case PTX_OP_sin:
        r = sinf(x);
        break;
    case PTX_OP_cos:
        r = cosf(x);
        break;
    case PTX_OP_tanh:
        r = tanhf(x);
        break;
    default:
        r = x;
        break;
    }
    return of_f32(scalar_flush32(r, in));
}

uint64_t scalar_float64(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    (void)c;
    double x = f64_of(a);
    switch ((int)in->op) {
    case PTX_OP_copysign:
        return (b & ~(1ull << 63)) | (a & (1ull << 63));
    case PTX_OP_rsqrt:
        return of_f64(1.0 / sqrt(x));
    case PTX_OP_ex2:
        return of_f64(exp2(x));
    case PTX_OP_lg2:
        return of_f64(log2(x));
    default:
        return a;
    }
}

uint64_t scalar_property(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    (void)b, (void)c;
    int kind = in->type == PTX_F64 ? fpclassify(f64_of(a)) : fpclassify(f32_of(a));
    switch ((int)in->sub) {
    case PTX_FINITE:
        return kind != FP_NAN && kind != FP_INFINITE;
    case PTX_INFINITE:
        return kind == FP_INFINITE;
    case PTX_NUMBER:
        return kind != FP_NAN;
    case PTX_NOTANUMBER:
        return kind == FP_NAN;
    case PTX_NORMAL:
        return kind == FP_NORMAL;
    default:
        return kind == FP_SUBNORMAL;
    }
}

/* Comparisons of half-precision values, for setp and set. */
static bool compare(double x, double y, enum ptx_cmp cmp)
{
    bool unordered = isnan(x) || isnan(y);
    switch ((int)cmp) {
    case PTX_EQ:
        return x == y;
    case PTX_NE:
        return !unordered && x != y;
    case PTX_LT:
        return x < y;
    case PTX_LE:
        return x <= y;
    case PTX_GT:
        return x > y;
    case PTX_GE:
        return x >= y;
    case PTX_EQU:
        return unordered || x == y;
    case PTX_NEU:
        return unordered || x != y;
    case PTX_LTU:
        return unordered || x < y;
    case PTX_LEU:
        return unordered || x <= y;
    case PTX_GTU:
        return unordered || x > y;
    case PTX_GEU:
        return unordered || x >= y;
    case PTX_NUM:
        return !unordered;
    default:
        return unordered;
    }
}

uint64_t scalar_compare_half(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    enum ptx_type type = (enum ptx_type)(in->op == PTX_OP_set ? in->src_type : in->type);
    bool half = type == PTX_F16 || type == PTX_F16X2;
    bool truth =
        compare(scalar_read_half(a, half), scalar_read_half(b, half), (enum ptx_cmp)in->cmp);
    if (in->boolop == PTX_BOOL_AND)
        truth = truth && (c & 1);
    else if (in->boolop == PTX_BOOL_OR)
        truth = truth || (c & 1);
    else if (in->boolop == PTX_BOOL_XOR)
        truth = truth != (c & 1);
    if (in->op != PTX_OP_set)
        return truth;
    bool one = in->type == PTX_F16 || in->type == PTX_BF16 || in->type == PTX_F16X2 ||
               in->type == PTX_BF16X2;
    uint64_t yes = one ? (half ? 0x3c00 : 0x3f80) : 0xffffffffu;
    uint64_t low = truth ? yes : 0;
    if (type != PTX_F16X2 && type != PTX_BF16X2)
        return low;
    bool high = compare(scalar_read_half(a >> 16, half), scalar_read_half(b >> 16, half),
                        (enum ptx_cmp)in->cmp);
    if (!one)
        return (truth ? 0xffff : 0) | (high ? 0xffff0000u : 0);
    return low | (high ? yes << 16 : 0);
}
