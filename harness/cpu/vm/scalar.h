/* scalar: operations that run lane by lane through a function: rare ones, and those that no loop of
 * 32 trips does well. Values travel as their bits in a uint64_t; the upper bits of operands
 * narrower than their register mean nothing and have to be ignored, those of a result are free. */
#ifndef CPU_VM_SCALAR_H
#define CPU_VM_SCALAR_H

#include "cpu/ptx/ptx.h"

typedef uint64_t vm_scalar(uint64_t a, uint64_t b, uint64_t c, const struct ptx_instr *in);

struct scalar_op {
    vm_scalar *function;
    const struct ptx_instr *in;
    uint8_t operands;  /* 1 to 4; the fourth travels in the upper half of c */
    bool wide[5];      /* d, a, b, c, fourth: the register is a row of 8-byte values */
    uint32_t fourth;   /* its row */
    bool to_predicate; /* bit 0 of the result goes to a predicate */
    uint32_t flag;     /* carry: offset of the flag's predicate */
};

/* The function for an instruction, NULL = there is none. */
vm_scalar *vm_scalar_find(const struct ptx_instr *in);

/* add sub mad addc subc madc with .cc: takes and gives the carry. */
uint64_t vm_scalar_carry(uint64_t a, uint64_t b, uint64_t c, const struct ptx_instr *in,
                         bool *carry);

/* One conversion, any type to any type: cvt's work. */
uint64_t vm_scalar_convert(uint64_t a, uint64_t b, uint64_t c, const struct ptx_instr *in);

/* Sets the rounding (enum ptx_round; 0 = to nearest) and flushing of subnormals of this thread. */
void vm_scalar_fp_mode(uint32_t rounding, uint32_t flush);

float vm_half_to_float(uint16_t h);
float vm_bfloat_to_float(uint16_t h);
uint16_t vm_float_to_half(double x, enum ptx_round round); /* x exactly rounded once */
uint16_t vm_float_to_bfloat(double x, enum ptx_round round);

#endif
