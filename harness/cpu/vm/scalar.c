/* Operations lane by lane. A row of SCALARS names an opcode, the types it covers and the function;
 * the functions take the values' bits and the instruction for its flags. Floats: the arithmetic of
 * the host is IEEE 754; what PTX calls approximate is computed more exactly than it promises. Half
 * precision goes through double and is rounded once. */
#include "cpu/vm/scalar.h"

#include <fenv.h>
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

typedef const struct ptx_instr ins;

static unsigned bits_in(enum ptx_type type)
{
    return 8 * ptx_type_bytes(type);
}

static uint64_t unsigned_of(uint64_t x, unsigned bits)
{
    return bits >= 64 ? x : x & ((1ull << bits) - 1);
}

static int64_t signed_of(uint64_t x, unsigned bits)
{
    return bits >= 64 ? (int64_t)x : (int64_t)(x << (64 - bits)) >> (64 - bits);
}

static bool is_signed(ins *in)
{
    return ptx_type_is_signed((enum ptx_type)in->type);
}

static float f32_of(uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    float x;
    memcpy(&x, &narrow, 4);
    return x;
}

static uint64_t of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return x != x ? 0x7fffffffu : bits;
}

static double f64_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static uint64_t of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

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
static double round_to(double x, int fraction_bits, int least, enum ptx_round round, bool negative)
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
    double r = a == 0 ? 0 : round_to(a, fraction_bits, least, round, negative);
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

static double narrow_of(uint64_t bits, bool half)
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
    double x = narrow_of(a, half), y = narrow_of(b, half), z = narrow_of(c, half), r;
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

static uint64_t narrow_float(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    bool half = in->type == PTX_F16 || in->type == PTX_F16X2;
    uint64_t low = narrow_op(a, b, c, in, half);
    if (in->type == PTX_F16 || in->type == PTX_BF16)
        return low;
    return low | narrow_op(a >> 16, b >> 16, c >> 16, in, half) << 16;
}

/* ---- integers ---- */

static uint64_t integer(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    unsigned bits = bits_in((enum ptx_type)in->type);
    int64_t x = signed_of(a, bits), y = signed_of(b, bits);
    uint64_t u = unsigned_of(a, bits), v = unsigned_of(b, bits);
    bool s = is_signed(in);
    switch ((int)in->op) {
    case PTX_OP_add: /* .sat */
    case PTX_OP_sub: {
        __int128 r = in->op == PTX_OP_add ? (__int128)x + y : (__int128)x - y;
        __int128 most = ((__int128)1 << (bits - 1)) - 1;
        r = r > most ? most : r < -most - 1 ? -most - 1 : r;
        return (uint64_t)r;
    }
    case PTX_OP_mul:
    case PTX_OP_mad: {
        unsigned __int128 r = s ? (unsigned __int128)((__int128)x * y) : (unsigned __int128)u * v;
        if (in->sub == PTX_HI)
            r >>= bits;
        if (in->op == PTX_OP_mad) {
            if ((in->flags & PTX_F_SAT) && in->sub == PTX_HI) {
                int64_t sum = (int64_t)(int32_t)(uint32_t)r + signed_of(c, bits);
                return (uint64_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
            }
            r += c;
        }
        return (uint64_t)r;
    }
    case PTX_OP_mul24:
    case PTX_OP_mad24: {
        uint64_t r = s ? (uint64_t)(signed_of(a, 24) * signed_of(b, 24))
                       : unsigned_of(a, 24) * unsigned_of(b, 24);
        r = in->sub == PTX_HI ? r >> 16 : r;
        return in->op == PTX_OP_mad24 ? r + c : r;
    }
    case PTX_OP_div:
        if (v == 0)
            return ~0ull;
        return s ? (y == -1 ? 0 - a : (uint64_t)(x / y)) : u / v;
    case PTX_OP_rem:
        if (v == 0)
            return a;
        return s ? (y == -1 ? 0 : (uint64_t)(x % y)) : u % v;
    case PTX_OP_min:
        return s ? (x < y ? a : b) : (u < v ? a : b);
    case PTX_OP_max:
        return s ? (x > y ? a : b) : (u > v ? a : b);
    case PTX_OP_shr: {
        uint32_t n = (uint32_t)b;
        if (s)
            return (uint64_t)(x >> (n >= bits ? bits - 1 : n));
        return n >= bits ? 0 : u >> n;
    }
    case PTX_OP_abs:
        return x < 0 ? 0 - a : a;
    case PTX_OP_neg:
        return 0 - a;
    case PTX_OP_cnot:
        return u == 0;
    case PTX_OP_sad: {
        uint64_t d = s ? (x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y)
                       : (u < v ? v - u : u - v);
        return c + d;
    }
    default:
        return 0;
    }
}

static uint64_t pair16(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    uint64_t r = 0;
    (void)c;
    for (unsigned k = 0; k < 2; k++) {
        int64_t x = signed_of(a >> (16 * k), 16), y = signed_of(b >> (16 * k), 16);
        uint64_t u = a >> (16 * k) & 0xffff, v = b >> (16 * k) & 0xffff, one;
        if (in->op == PTX_OP_add)
            one = u + v;
        else if (in->type == PTX_S16X2)
            one = ((x < y) == (in->op == PTX_OP_min)) ? u : v;
        else
            one = ((u < v) == (in->op == PTX_OP_min)) ? u : v;
        r |= (one & 0xffff) << (16 * k);
    }
    return r;
}

static uint64_t bit_field(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    unsigned bits = bits_in((enum ptx_type)in->type), at = (unsigned)b & 255;
    unsigned length = (unsigned)c & 255, last = at + length - 1;
    bool s = is_signed(in);
    uint64_t u = unsigned_of(a, bits);
    if (length == 0)
        return 0;
    if (last > bits - 1)
        last = bits - 1;
    uint64_t sign = s ? u >> last & 1 : 0;
    uint64_t field = at >= bits ? 0 : u >> at, taken = at >= bits ? 0 : bits - at;
    if (length < taken) {
        field &= (1ull << length) - 1;
        taken = length;
    }
    if (sign && taken < 64)
        field |= ~0ull << taken;
    return field;
}

/* b with the c-th and following bits, as many as the fourth operand says, replaced by a's. */
static uint64_t insert_field(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    unsigned bits = bits_in((enum ptx_type)in->type), at = (unsigned)c & 255;
    unsigned length = (unsigned)(c >> 32) & 255;
    if (at >= bits || length == 0)
        return b;
    if (length > bits - at)
        length = bits - at;
    uint64_t field = (length == 64 ? ~0ull : (1ull << length) - 1) << at;
    return (b & ~field) | (a << at & field);
}

static uint64_t find_bit(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    (void)b, (void)c;
    unsigned bits = bits_in((enum ptx_type)in->type);
    uint64_t u = unsigned_of(a, bits);
    if (is_signed(in) && (u >> (bits - 1) & 1))
        u = unsigned_of(~u, bits);
    if (u == 0)
        return 0xffffffffu;
    unsigned at = 63u - (unsigned)__builtin_clzll(u);
    return in->flags & PTX_F_SHIFTAMT ? bits - 1 - at : at;
}

static uint64_t reverse(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    (void)b, (void)c;
    unsigned bits = bits_in((enum ptx_type)in->type);
    uint64_t r = 0;
    for (unsigned k = 0; k < bits; k++)
        r |= (a >> k & 1) << (bits - 1 - k);
    return r;
}

static uint64_t funnel(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    unsigned n = (unsigned)(uint32_t)c;
    n = in->flags & PTX_F_WRAP ? n & 31 : n > 32 ? 32 : n;
    uint64_t pair = (a & 0xffffffffu) | b << 32;
    return in->sub == PTX_LEFT ? (n == 32 ? pair : pair << n >> 32) : pair >> n;
}

static uint64_t permute(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    uint64_t pair = (a & 0xffffffffu) | b << 32, r = 0;
    unsigned n = (unsigned)c & 3;
    for (unsigned k = 0; k < 4; k++) {
        unsigned pick;
        bool sign = false;
        switch ((int)in->sub) {
        case PTX_F4E:
            pick = n + k;
            break;
        case PTX_B4E:
            pick = (n + 8 - k) & 7;
            break;
        case PTX_RC8:
            pick = n;
            break;
        case PTX_ECL:
            pick = k < n ? n : k;
            break;
        case PTX_ECR:
            pick = k < n ? k : n;
            break;
        case PTX_RC16:
            pick = (n & 1) * 2 + (k & 1);
            break;
        default:
            pick = (unsigned)(c >> (4 * k)) & 7;
            sign = c >> (4 * k + 3) & 1;
            break;
        }
        uint64_t byte = pair >> (8 * pick) & 255;
        if (sign)
            byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * k);
    }
    return r;
}

static uint64_t bit_mask(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    (void)c;
    uint32_t from = (uint32_t)a, count = (uint32_t)b;
    if (in->flags & PTX_F_WRAP) {
        from &= 31;
        count &= 31;
    }
    if (from > 31)
        return 0;
    uint32_t ones = count >= 32 ? ~0u : (1u << count) - 1;
    return ones << from;
}

static uint64_t sign_zero_extend(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    (void)c;
    uint32_t n = (uint32_t)b;
    if (in->flags & PTX_F_WRAP)
        n &= 31;
    if (n >= 32)
        return a;
    if (n == 0)
        return 0;
    return is_signed(in) ? (uint64_t)signed_of(a, n) : unsigned_of(a, n);
}

static uint64_t nth_set(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    (void)in;
    uint32_t mask = (uint32_t)a, base = (uint32_t)b & 31;
    int32_t offset = (int32_t)(uint32_t)c;
    if (offset == 0)
        return mask >> base & 1 ? base : 0xffffffffu;
    int step = offset > 0 ? 1 : -1;
    int32_t left = offset > 0 ? offset : -offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0)
            return (uint64_t)at;
    return 0xffffffffu;
}

static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    /* dp4a.atype.btype: src_type is the type of a, type that of b. */
    bool a_signed = ptx_type_is_signed((enum ptx_type)in->src_type), b_signed = is_signed(in);
    int64_t sum = (int64_t)(int32_t)(uint32_t)c;
    bool two = in->op == PTX_OP_dp2a;
    unsigned high = two && in->sub == PTX_HI ? 16 : 0;
    for (unsigned k = 0; k < (two ? 2u : 4u); k++) {
        unsigned a_bits = two ? 16 : 8;
        uint64_t x = a >> (a_bits * k), y = b >> (8 * k + high);
        sum += (a_signed ? signed_of(x, a_bits) : (int64_t)unsigned_of(x, a_bits)) *
               (b_signed ? signed_of(y, 8) : (int64_t)unsigned_of(y, 8));
    }
    return (uint64_t)sum;
}

static uint64_t select_sign(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    bool take = in->type == PTX_F32 ? f32_of(c) >= 0.0f : (int32_t)(uint32_t)c >= 0;
    return take ? a : b;
}

/* ---- floats ---- */

static float flush32(float x, ins *in)
{
    return (in->flags & PTX_F_FTZ) && fpclassify(x) == FP_SUBNORMAL ? copysignf(0.0f, x) : x;
}

static uint64_t pick32(uint64_t a, uint64_t b, ins *in)
{
    float x = flush32(f32_of(a), in), y = flush32(f32_of(b), in), r;
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

static uint64_t float32(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    float x = flush32(f32_of(a), in), r;
    (void)c;
    switch ((int)in->op) {
    case PTX_OP_min:
    case PTX_OP_max:
        return pick32(a, b, in);
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
    return of_f32(flush32(r, in));
}

static uint64_t float64(uint64_t a, uint64_t b, uint64_t c, ins *in)
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

static uint64_t property(uint64_t a, uint64_t b, uint64_t c, ins *in)
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

static uint64_t compare_narrow(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    enum ptx_type type = (enum ptx_type)(in->op == PTX_OP_set ? in->src_type : in->type);
    bool half = type == PTX_F16 || type == PTX_F16X2;
    bool truth = compare(narrow_of(a, half), narrow_of(b, half), (enum ptx_cmp)in->cmp);
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
    bool high = compare(narrow_of(a >> 16, half), narrow_of(b >> 16, half), (enum ptx_cmp)in->cmp);
    if (!one)
        return (truth ? 0xffff : 0) | (high ? 0xffff0000u : 0);
    return low | (high ? yes << 16 : 0);
}

/* ---- conversions ---- */

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
        /* Beyond half precision a double is exact enough unless 64-bit integers overflow it, and
         * those are infinite or the largest anyway. */
        vm_scalar_fp_mode(0, 0);
        double x = negative ? -(double)m : (double)m;
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
        return narrow_of(a, type == PTX_F16);
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
        return of_f32(flush32(narrow, in));
    }
    case PTX_TF32: /* 10 bits of fraction in a 32-bit word */
        return of_f32(isfinite(x) && x != 0
                          ? (float)copysign(round_to(fabs(x), 10, -126, kept, signbit(x)), x)
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
        x = (double)flush32((float)x, in);
    if (!ptx_type_is_float(to))
        return float_to_integer(x, in);
    bool same_kind = to == from && in->round == PTX_ROUND_NONE && !in->flags;
    return same_kind ? a : float_to_float(x, in);
}

/* ---- carry ---- */

uint64_t vm_scalar_carry(uint64_t a, uint64_t b, uint64_t c, const struct ptx_instr *in,
                         bool *carry)
{
    unsigned bits = bits_in((enum ptx_type)in->type);
    uint64_t u = unsigned_of(a, bits), v = unsigned_of(b, bits);
    bool with = in->op == PTX_OP_addc || in->op == PTX_OP_subc || in->op == PTX_OP_madc;
    uint64_t flag = with && *carry;
    unsigned __int128 r;
    switch ((int)in->op) {
    case PTX_OP_add:
    case PTX_OP_addc:
        r = (unsigned __int128)u + v + flag;
        break;
    case PTX_OP_sub:
    case PTX_OP_subc:
        r = (unsigned __int128)u - v - flag;
        break;
    default: { /* mad, madc */
        unsigned __int128 product =
            is_signed(in) ? (unsigned __int128)((__int128)signed_of(a, bits) * signed_of(b, bits))
                          : (unsigned __int128)u * v;
        uint64_t part =
            unsigned_of((uint64_t)(in->sub == PTX_HI ? product >> bits : product), bits);
        r = (unsigned __int128)part + unsigned_of(c, bits) + flag;
        break;
    }
    }
    *carry = r >> bits & 1;
    return (uint64_t)r;
}

/* ---- which function ---- */

#define T(type) (1u << PTX_##type)
enum {
    INTEGERS = T(U16) | T(S16) | T(U32) | T(S32) | T(U64) | T(S64),
    NARROW_FLOATS = T(F16) | T(F16X2) | T(BF16) | T(BF16X2),
    BITS = T(B16) | T(B32) | T(B64),
    PAIRS = T(U16X2) | T(S16X2),
};

struct scalar_row {
    uint16_t op;
    uint32_t types;
    vm_scalar *function;
};

static const struct scalar_row SCALARS[] = {
    {PTX_OP_add, INTEGERS, integer},
    {PTX_OP_sub, INTEGERS, integer},
    {PTX_OP_mul, INTEGERS, integer},
    {PTX_OP_mad, INTEGERS, integer},
    {PTX_OP_mul24, INTEGERS, integer},
    {PTX_OP_mad24, INTEGERS, integer},
    {PTX_OP_div, INTEGERS, integer},
    {PTX_OP_rem, INTEGERS, integer},
    {PTX_OP_min, INTEGERS, integer},
    {PTX_OP_max, INTEGERS, integer},
    {PTX_OP_shr, INTEGERS | BITS, integer},
    {PTX_OP_abs, INTEGERS, integer},
    {PTX_OP_neg, INTEGERS, integer},
    {PTX_OP_cnot, BITS, integer},
    {PTX_OP_sad, INTEGERS, integer},
    {PTX_OP_add, PAIRS, pair16},
    {PTX_OP_min, PAIRS, pair16},
    {PTX_OP_max, PAIRS, pair16},
    {PTX_OP_add, NARROW_FLOATS, narrow_float},
    {PTX_OP_sub, NARROW_FLOATS, narrow_float},
    {PTX_OP_mul, NARROW_FLOATS, narrow_float},
    {PTX_OP_fma, NARROW_FLOATS, narrow_float},
    {PTX_OP_mad, NARROW_FLOATS, narrow_float},
    {PTX_OP_neg, NARROW_FLOATS, narrow_float},
    {PTX_OP_abs, NARROW_FLOATS, narrow_float},
    {PTX_OP_min, NARROW_FLOATS, narrow_float},
    {PTX_OP_max, NARROW_FLOATS, narrow_float},
    {PTX_OP_ex2, NARROW_FLOATS, narrow_float},
    {PTX_OP_tanh, NARROW_FLOATS, narrow_float},
    {PTX_OP_setp, NARROW_FLOATS, compare_narrow},
    {PTX_OP_set, ~0u, compare_narrow},
    {PTX_OP_bfe, INTEGERS, bit_field},
    {PTX_OP_bfi, BITS, insert_field},
    {PTX_OP_bfind, INTEGERS, find_bit},
    {PTX_OP_brev, BITS, reverse},
    {PTX_OP_shf, T(B32), funnel},
    {PTX_OP_prmt, T(B32), permute},
    {PTX_OP_bmsk, T(B32), bit_mask},
    {PTX_OP_szext, T(U32) | T(S32), sign_zero_extend},
    {PTX_OP_fns, T(B32), nth_set},
    {PTX_OP_dp4a, T(U32) | T(S32), dot},
    {PTX_OP_dp2a, T(U32) | T(S32), dot},
    {PTX_OP_slct, ~0u, select_sign},
    {PTX_OP_min, T(F32), float32},
    {PTX_OP_max, T(F32), float32},
    {PTX_OP_neg, T(F32), float32},
    {PTX_OP_abs, T(F32), float32},
    {PTX_OP_copysign, T(F32), float32},
    {PTX_OP_ex2, T(F32), float32},
    {PTX_OP_lg2, T(F32), float32},
    {PTX_OP_sin, T(F32), float32},
    {PTX_OP_cos, T(F32), float32},
    {PTX_OP_tanh, T(F32), float32},
    {PTX_OP_copysign, T(F64), float64},
    {PTX_OP_rsqrt, T(F64), float64},
    {PTX_OP_testp, T(F32) | T(F64), property},
    {PTX_OP_cvt, ~0u, vm_scalar_convert},
};

vm_scalar *vm_scalar_find(const struct ptx_instr *in)
{
    for (size_t k = 0; k < sizeof SCALARS / sizeof *SCALARS; k++)
        if (SCALARS[k].op == in->op && (SCALARS[k].types >> in->type & 1))
            return SCALARS[k].function;
    return NULL;
}
