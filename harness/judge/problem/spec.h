/* spec: what the parts of the loader share (this folder only).
 *
 * load_mapping() walks one mapping by the rows of fields.def; setters fill struct problem. A setter
 * returns 0, or -1 with the message of spec_fail(). Everything lives in the loader's arena. */
#ifndef JUDGE_PROBLEM_SPEC_H
#define JUDGE_PROBLEM_SPEC_H

#include "judge/problem/expr.h"
#include "judge/problem/generate.h"
#include "judge/problem/problem.h"
#include "judge/problem/tree.h"

/* The mappings that a key may stand in. */
enum where {
    WHERE_TOP,
    WHERE_LOCALIZED,
    WHERE_VARIABLES,
    WHERE_VARIABLE,
    WHERE_PARAMETER,
    WHERE_CHECK,
    WHERE_CASE,
    WHERE_BENCHMARK,
    WHERE_SIZE,
    WHERE_COST,
    WHERE_LIMITS,
    WHERE_RULES,
};

struct loader {
    const char *file;
    struct arena *arena;
    struct err *e;
    struct problem *p;
    struct expr_names names; /* variables, and buffers once the parameters' names are known */
};

/* One case as written, before its sweep is expanded. */
struct sweep { /* the values of one variable */
    int64_t *values;
    unsigned count, capacity;
};
struct case_source {
    const struct node *node;
    const char *name; /* template */
    bool is_public;
    struct sweep *sweeps;            /* per variable */
    struct generator **inputs;       /* per parameter */
    const struct node **input_nodes; /* per parameter */
};

typedef int (*field_setter)(struct loader *, const struct node *key, const struct node *value,
                            void *to);

#define FIELD(where, key, required, kinds, allowed, setter)                                        \
    int setter(struct loader *l, const struct node *key_node, const struct node *value, void *to);
#include "judge/problem/fields.def"
#undef FIELD

/* `file:line:column: key: found FOUND; allowed: ALLOWED` at a node; returns -1. */
int spec_fail(struct loader *l, const struct node *at, const char *key, const char *found,
              const char *allowed);
/* The same for a value that is not allowed. */
int spec_fail_value(struct loader *l, const struct node *value, const char *key,
                    const char *allowed);
/* The same at a place inside a scalar. */
int spec_fail_inside(struct loader *l, const struct node *value, const char *key,
                     const struct expr_error *error);
/* Adds "(did you mean 'x'?)" if one of the names is near. */
int spec_fail_unknown(struct loader *l, const struct node *at, const char *key, const char *found,
                      const char *const *names, unsigned count, const char *allowed);

int load_mapping(struct loader *l, enum where where, const struct node *n, const char *key,
                 void *to);

/* A whole number within [lo, hi]. */
int spec_integer(struct loader *l, const struct node *value, const char *key, int64_t lo,
                 int64_t hi, int64_t *out);
/* Of a scalar. */
int spec_flag(struct loader *l, const struct node *value, const char *key, bool *out);
int spec_expression(struct loader *l, const struct node *value, const char *key, struct expr **out);
/* A usable C and C++ identifier that leaves reserved names alone. */
bool spec_is_identifier(const char *s);
/* Are all items scalars? Lists of texts. */
int spec_texts(struct loader *l, const struct node *list, const char *key, const char *allowed,
               bool (*is_allowed)(const char *), const char ***texts, unsigned *count);

/* Evaluates shapes, sizes and scalars of one set of variables into arrays of param_count. */
int layout_evaluate(const struct problem *p, const int64_t *values, struct case_buffer *buffers,
                    uint64_t *scalars, struct err *e);
/* Do all buffers together fit into limits.memory? */
int layout_check_memory(const struct problem *p, const struct case_buffer *buffers, struct err *e);

/* oracle.c: does the oracle's signature fit the parameters? NULL, or what it needs. */
const char *oracle_misfit(const struct problem *p, const char *oracle, struct arena *arena);
/* The names of all oracles; returns how many. */
unsigned oracle_names(const char *const **names);

#endif
