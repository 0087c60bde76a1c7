/* scalar_bits: values and their bits, for scalar*.c only. */
#ifndef CPU_VM_SCALAR_BITS_H
#define CPU_VM_SCALAR_BITS_H

#include "cpu/vm/scalar.h"

#include <string.h>

typedef const struct ptx_instr ins;

static inline unsigned bits_in(enum ptx_type type)
{
    return 8 * ptx_type_bytes(type);
}

static inline uint64_t unsigned_of(uint64_t x, unsigned bits)
{
    return bits >= 64 ? x : x & ((1ull << bits) - 1);
}

static inline int64_t signed_of(uint64_t x, unsigned bits)
{
    return bits >= 64 ? (int64_t)x : (int64_t)(x << (64 - bits)) >> (64 - bits);
}

static inline bool is_signed(ins *in)
{
    return ptx_type_is_signed((enum ptx_type)in->type);
}

static inline float f32_of(uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    float x;
    memcpy(&x, &narrow, 4);
    return x;
}

static inline uint64_t of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return x != x ? 0x7fffffffu : bits;
}

static inline double f64_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static inline uint64_t of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

/* scalar_float.c: for the table, and for conversions */
vm_scalar scalar_half, scalar_float32, scalar_float64, scalar_property, scalar_compare_half;
double scalar_round_to(double x, int fraction_bits, int least, enum ptx_round round, bool negative);
double scalar_read_half(uint64_t bits, bool half); /* half: else bfloat16 */
float scalar_flush32(float x, ins *in);            /* as .ftz says */

#endif
