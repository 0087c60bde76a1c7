/* matrix: mma, wmma, ldmatrix, stmatrix and movmatrix, lowered. The whole warp does one together.
 *
 * A part is one operand: registers of all lanes that hold a small matrix between them. Where an
 * element lives is fixed by the PTX ISA for mma and ldmatrix, and left open for wmma, whose
 * fragments are laid out here as those of mma, block after block. */
#ifndef CPU_VM_MATRIX_H
#define CPU_VM_MATRIX_H

#include "cpu/vm/engine.h"

enum matrix_kind {
    MATRIX_LOAD,      /* ldmatrix */
    MATRIX_STORE,     /* stmatrix */
    MATRIX_TRANSPOSE, /* movmatrix */
    MATRIX_MULTIPLY,  /* mma, wmma.mma */
    MATRIX_READ,      /* wmma.load */
    MATRIX_WRITE,     /* wmma.store */
};

/* What an element is. */
enum matrix_type {
    MATRIX_F16,
    MATRIX_BF16,
    MATRIX_TF32,
    MATRIX_F32,
    MATRIX_F64,
    MATRIX_S32,
    MATRIX_S8,
    MATRIX_U8,
    MATRIX_S4,
    MATRIX_U4,
    MATRIX_B1,
    MATRIX_TYPE_COUNT
};

enum { MATRIX_REGISTERS = 8 };

struct matrix_part {
    uint8_t type;  /* enum matrix_type */
    uint8_t count; /* registers */
    bool slot[MATRIX_REGISTERS];
    uint32_t at[MATRIX_REGISTERS]; /* rows or slots */
};

struct matrix_op {
    uint8_t kind; /* enum matrix_kind */
    uint8_t role; /* 'a', 'b', 'c': of MATRIX_READ and MATRIX_WRITE */
    bool transposed;
    bool by_columns;          /* in memory */
    bool saturates, uses_and; /* integers clamp; b1: and instead of xor */
    uint16_t m, n, k;
    struct matrix_part d, a, b, c;
    struct mem_op memory;
    bool has_stride, stride_slot;
    uint32_t stride; /* in elements */
};

unsigned matrix_bits(enum matrix_type t); /* of an element */

/* Where element e of register r of a lane is, in a matrix that is operand `role` of op. */
struct matrix_place {
    unsigned row, column;
};
struct matrix_place matrix_place(const struct matrix_op *op, char role, enum matrix_type type,
                                 unsigned r, unsigned e, unsigned lane);

#endif
