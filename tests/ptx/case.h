/* case: what a case file says, in memory. Format: README.md. */
#ifndef TESTS_PTX_CASE_H
#define TESTS_PTX_CASE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "cpu/ptx/ptx.h"
#include "cpu/vm/vm.h"

enum { MAX_VALUES = 1024, MAX_ROWS = 12, MEMORY_BYTES = 4096 };

enum match { MATCH_BITS, MATCH_ANY, MATCH_NAN, MATCH_ULP, MATCH_ABSOLUTE };

struct value {
    uint64_t bits;
    uint8_t match;
    double tolerance; /* MATCH_ULP, MATCH_ABSOLUTE */
};

struct row { /* aN, dN, mem, mem_after */
    bool used, sorted;
    enum ptx_type type;
    struct value *values;
    uint32_t count;
};

struct ptx_case {
    const char *name;
    uint32_t line;
    struct text body, module;
    struct row in[MAX_ROWS], out[MAX_ROWS], memory, memory_after;
    uint32_t threads, blocks;
    bool lanewise;
    enum vm_status status;
    const char *finds; /* names, space-separated; "" = none */
    const char *known; /* why the case fails today; NULL = it must hold */
    struct ptx_case *next;
};

/* All cases of a file, in order; *out is NULL if there is none. Errors: "file:line: ...". The
 * caller ends with cases_release(). */
int cases_read(const char *path, struct arena *arena, struct ptx_case **out, struct err *e);
void cases_release(struct ptx_case *cases);

/* Registers and memory of a type. */
const char *type_name(enum ptx_type t);
const char *register_type(enum ptx_type t); /* "b16" for s16, "b32" for u8, "pred" */
unsigned memory_bytes(enum ptx_type t);     /* of one value in a row; PRED: 4 */

bool value_matches(const struct value *expected, uint64_t got, enum ptx_type t);
/* The value as people read it, in a buffer of `bytes`. */
void value_print(uint64_t bits, enum ptx_type t, char *out, size_t bytes);

/* Appends the PTX of the plain way of running a case. */
void case_text(const struct ptx_case *c, struct text *out);

/* Runs a case in every way README.md names. Returns the number of failed runs, each printed. A case
 * with `known` counts as failed, and says so, when it holds. */
unsigned case_run(struct vm *vm, const char *file, const struct ptx_case *c);

#endif
