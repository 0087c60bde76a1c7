/* oracle: what a serial oracle gets, for the files that hold them (oracle_scan.c, oracle_move.c,
 * oracle_moe.c, oracle_apply.c). Which parameters it takes is a row of oracles.def; binding is in
 * oracle.c.
 *
 * An oracle sees one operand per slot of its row, in the row's order: the input of an input slot,
 * memory to fill of an output slot, the number of a value slot. It may rely on the types its row
 * asks for. Counts are what the problem's shapes say: an oracle does not write past them whatever
 * they are, so that a spec with odd shapes is a wrong answer and not a crash. */
#ifndef JUDGE_PROBLEM_ORACLE_H
#define JUDGE_PROBLEM_ORACLE_H

#include "judge/problem/number.h"
#include "wire/wire.h"

#include <stdint.h>

struct oracle_operand {
    enum wire_type type;
    uint64_t count; /* elements; 1 of a value */
    const void *in; /* of an input */
    void *out;      /* of an output; may be the same parameter's other side (inout), never `in` */
    int64_t value;  /* of a value: integers; a real one is truncated */
    double real;    /* of a value */
};

typedef void oracle_function(const struct oracle_operand *o);

#define SLOT(role, type, name)
#define VALUE(name)
#define ORACLE(id, slots, meaning) oracle_function oracle_##id;
#include "judge/problem/oracles.def"
#undef ORACLE
#undef VALUE
#undef SLOT

/* Those that can share out their elements among threads (oracle_parts.def). */
typedef uint64_t oracle_sum_function(const struct oracle_operand *o, uint64_t from, uint64_t to);
typedef void oracle_fill_function(const struct oracle_operand *o, uint64_t from, uint64_t to,
                                  uint64_t before);

#define PARTS(id)                                                                                  \
    oracle_sum_function oracle_sum_##id;                                                           \
    oracle_fill_function oracle_fill_##id;
#include "judge/problem/oracle_parts.def"
#undef PARTS

/* The smaller count of two operands: how many elements a map from one to the other has. */
static inline uint64_t oracle_common(const struct oracle_operand *a, const struct oracle_operand *b)
{
    return a->count < b->count ? a->count : b->count;
}

/* Where a part that ends at `to` ends in such a map. */
static inline uint64_t oracle_part_end(const struct oracle_operand *a,
                                       const struct oracle_operand *b, uint64_t to)
{
    return to < oracle_common(a, b) ? to : oracle_common(a, b);
}

/* ---- for slots of several types: one element as a number ---- */

/* An element of an input. Integers are extended by their own sign; floats truncated. */
int64_t oracle_int(const struct oracle_operand *o, uint64_t i);
double oracle_real(const struct oracle_operand *o, uint64_t i);
/* An element of an output: integers wrap into integer types, reals are rounded once. */
void oracle_put_int(const struct oracle_operand *o, uint64_t i, int64_t value);
void oracle_put_real(const struct oracle_operand *o, uint64_t i, double value);
/* An element moved as bits. Both operands of one type. */
void oracle_move(const struct oracle_operand *to, uint64_t i, const struct oracle_operand *from,
                 uint64_t j);

#endif
