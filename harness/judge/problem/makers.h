/* makers: one function per row of generators.def, used by generate.c only.
 *
 * check_NAME() says which values the arguments lead to, make_NAME() makes BLOCK of them, as int64,
 * double or bit patterns. Element i comes from (key, i) alone. */
#ifndef JUDGE_PROBLEM_MAKERS_H
#define JUDGE_PROBLEM_MAKERS_H

#include "judge/problem/call.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

enum { BLOCK = 512 };

enum generator_kind {
#define GENERATOR(id, args, required, makes, types, form, meaning) GENERATOR_##id,
#include "judge/problem/generators.def"
#undef GENERATOR
    GENERATOR_COUNT,
    LITERAL = GENERATOR_COUNT
};

/* One filling: the arguments as numbers. */
struct run {
    enum generator_kind kind;
    enum wire_type type;
    uint64_t count, key;
    int64_t i[CALL_ARGS_MAX];
    double d[CALL_ARGS_MAX];
    bool reals;      /* makes reals, not integers */
    double *cdf;     /* zipf */
    uint32_t *guide; /* zipf: first value whose cdf reaches j / k */
};

struct span {
    int64_t lo, hi;  /* of integers */
    double rlo, rhi; /* of reals */
};

union block {
    int64_t i[BLOCK];
    double d[BLOCK];
    uint64_t u[BLOCK];
};

struct row {
    const char *name, *args;
    unsigned required;
    char makes, types;
    const char *form;
    const char *(*check)(const struct run *, struct span *);
    void (*make)(const struct run *, uint64_t from, union block *);
};
extern const struct row GENERATOR_ROWS[GENERATOR_COUNT];

/* What a generator needs before its first block: the tables of zipf, on the heap. */
void run_prepare(struct run *r);
void run_finish(struct run *r);

#endif
