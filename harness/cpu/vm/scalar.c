/* Operations lane by lane. A row of SCALARS names an opcode, the types it covers and the function;
 * the functions take the values' bits and the instruction for its flags. Here are those on
 * integers; those on floats are in scalar_float.c and scalar_convert.c. */
#include "cpu/vm/scalar_bits.h"

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
    case PTX_OP_max: {
        bool first = (s ? x < y : u < v) == (in->op == PTX_OP_min);
        return (in->flags & PTX_F_RELU) && (first ? x : y) < 0 ? 0 : first ? a : b;
    }
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
        if ((in->flags & PTX_F_RELU) && (one & 0x8000))
            one = 0;
        r |= (one & 0xffff) << (16 * k);
    }
    return r;
}

/* The SIMD video instructions: vop2.dtype.atype.btype{.sat}{.add}: on 17 or 9 bits per part. */
static uint64_t video(uint64_t a, uint64_t b, uint64_t c, ins *in)
{
    const char *text = in->text, *types = strchr(text, '.');
    bool four = types[-1] == '4', add = strstr(types, ".add") != NULL;
    bool d_signed = types[1] == 's', a_signed = types[5] == 's', b_signed = types[9] == 's';
    unsigned width = four ? 8 : 16;
    int64_t most = (1ll << (d_signed ? width - 1 : width)) - 1, least = d_signed ? -most - 1 : 0;
    int64_t sum = 0;
    uint64_t r = 0;
    for (unsigned k = 0; k < 32 / width; k++) {
        uint64_t u = a >> (k * width), v = b >> (k * width);
        int64_t x = a_signed ? signed_of(u, width) : (int64_t)unsigned_of(u, width);
        int64_t y = b_signed ? signed_of(v, width) : (int64_t)unsigned_of(v, width), one;
        switch ((int)in->op) {
        case PTX_OP_vadd2:
        case PTX_OP_vadd4:
            one = x + y;
            break;
        case PTX_OP_vsub2:
        case PTX_OP_vsub4:
            one = x - y;
            break;
        case PTX_OP_vavrg2:
        case PTX_OP_vavrg4:
            one = x + y;
            one = (one + (one >= 0)) >> 1;
            break;
        case PTX_OP_vabsdiff2:
        case PTX_OP_vabsdiff4:
            one = x < y ? y - x : x - y;
            break;
        case PTX_OP_vmin2:
        case PTX_OP_vmin4:
            one = x < y ? x : y;
            break;
        default:
            one = x > y ? x : y;
            break;
        }
        if (in->flags & PTX_F_SAT)
            one = one > most ? most : one < least ? least : one;
        uint64_t part = unsigned_of((uint64_t)one, width);
        sum += add ? one : 0;
        r |= part << (k * width);
    }
    return add ? c + (uint64_t)sum : r;
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
    case PTX_OP_subc: /* a + ~b + 1: the carry is what a GPU keeps, 0 for a borrow. nvcc's division
                         of 128-bit integers reads it with addc */
        r = (unsigned __int128)u + unsigned_of(~v, bits) + (with ? flag : 1);
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
    {PTX_OP_add, NARROW_FLOATS, scalar_half},
    {PTX_OP_sub, NARROW_FLOATS, scalar_half},
    {PTX_OP_mul, NARROW_FLOATS, scalar_half},
    {PTX_OP_fma, NARROW_FLOATS, scalar_half},
    {PTX_OP_mad, NARROW_FLOATS, scalar_half},
    {PTX_OP_neg, NARROW_FLOATS, scalar_half},
    {PTX_OP_abs, NARROW_FLOATS, scalar_half},
    {PTX_OP_min, NARROW_FLOATS, scalar_half},
    {PTX_OP_max, NARROW_FLOATS, scalar_half},
    {PTX_OP_ex2, NARROW_FLOATS, scalar_half},
    {PTX_OP_tanh, NARROW_FLOATS, scalar_half},
    {PTX_OP_setp, NARROW_FLOATS, scalar_compare_half},
    {PTX_OP_set, ~0u, scalar_compare_half},
    {PTX_OP_bfe, INTEGERS, bit_field},
    {PTX_OP_bfi, BITS, insert_field},
    {PTX_OP_bfind, INTEGERS, find_bit},
    {PTX_OP_brev, BITS, reverse},
    {PTX_OP_shf, T(B32), funnel},
    {PTX_OP_prmt, T(B32), permute},
    {PTX_OP_bmsk, T(B32), bit_mask},
    {PTX_OP_szext, T(U32) | T(S32), sign_zero_extend},
    {PTX_OP_fns, T(B32), nth_set},
    {PTX_OP_vadd2, ~0u, video},
    {PTX_OP_vadd4, ~0u, video},
    {PTX_OP_vsub2, ~0u, video},
    {PTX_OP_vsub4, ~0u, video},
    {PTX_OP_vavrg2, ~0u, video},
    {PTX_OP_vavrg4, ~0u, video},
    {PTX_OP_vabsdiff2, ~0u, video},
    {PTX_OP_vabsdiff4, ~0u, video},
    {PTX_OP_vmin2, ~0u, video},
    {PTX_OP_vmin4, ~0u, video},
    {PTX_OP_vmax2, ~0u, video},
    {PTX_OP_vmax4, ~0u, video},
    {PTX_OP_dp4a, T(U32) | T(S32), dot},
    {PTX_OP_dp2a, T(U32) | T(S32), dot},
    {PTX_OP_slct, ~0u, select_sign},
    {PTX_OP_min, T(F32), scalar_float32},
    {PTX_OP_max, T(F32), scalar_float32},
    {PTX_OP_neg, T(F32), scalar_float32},
    {PTX_OP_abs, T(F32), scalar_float32},
    {PTX_OP_copysign, T(F32), scalar_float32},
    {PTX_OP_ex2, T(F32), scalar_float32},
    {PTX_OP_lg2, T(F32), scalar_float32},
    {PTX_OP_sin, T(F32), scalar_float32},
    {PTX_OP_cos, T(F32), scalar_float32},
    {PTX_OP_tanh, T(F32), scalar_float32},
    {PTX_OP_copysign, T(F64), scalar_float64},
    {PTX_OP_rsqrt, T(F64), scalar_float64},
    {PTX_OP_testp, T(F32) | T(F64), scalar_property},
    {PTX_OP_cvt, ~0u, vm_scalar_convert},
};

vm_scalar *vm_scalar_find(const struct ptx_instr *in)
{
    for (size_t k = 0; k < sizeof SCALARS / sizeof *SCALARS; k++)
        if (SCALARS[k].op == in->op && (SCALARS[k].types >> in->type & 1))
            return SCALARS[k].function;
    return NULL;
}
