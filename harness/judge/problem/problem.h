/* problem: what a problem is - its YAML, its cases, its data, its expected answers.
 *
 * problem_load() turns problem.yaml into a struct problem; problem_expand() turns its `cases` into
 * concrete ones (a sweep makes several); problem_case_fill() makes the inputs of one case from
 * (seed, case name) alone; oracle_expected() the right answer by a serial method.
 * Everything a struct problem points to lives in the caller's arena. Nothing here runs code of a
 * student. Errors of a spec read `file:line:column: key: what was found; what is allowed`. */
#ifndef JUDGE_PROBLEM_PROBLEM_H
#define JUDGE_PROBLEM_PROBLEM_H

#include "base/arena.h"
#include "base/err.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROBLEM_FILE_MAX = 64 * 1024,
    PROBLEM_DEPTH_MAX = 16,
    PROBLEM_SHAPE_MAX = 4,
    PROBLEM_CASES_MAX = 4096
};

struct expr; /* an integer expression over a case's variables; expr.h */

struct localized {       /* a text in the languages the spec gives; `en` is always there */
    const char *en, *zh; /* zh may be NULL */
};

enum difficulty { DIFFICULTY_EASY, DIFFICULTY_MEDIUM, DIFFICULTY_HARD };

struct problem_variable {
    const char *name;
    enum wire_type type;
    int64_t min, max;
    bool near; /* may hidden cases take values near those of public ones? */
};

enum param_kind { PARAM_BUFFER, PARAM_SCALAR, PARAM_STREAM };

struct problem_param {
    const char *name;
    enum param_kind kind;
    enum wire_type type;                   /* of the scalar or of an element */
    bool is_const;                         /* `const T *` in the prototype: inputs */
    enum wire_role role;                   /* BUFFER */
    struct expr *shape[PROBLEM_SHAPE_MAX]; /* BUFFER with a shape */
    unsigned shape_rank;
    struct expr *bytes;    /* BUFFER of a workspace */
    struct expr *value;    /* SCALAR */
    struct expr *misalign; /* BUFFER, bytes; NULL = 0 */
};

/* How an output is compared: a row of compare.def. */
enum compare_kind {
#define COMPARE(id, yaml_name, arguments, meaning) COMPARE_##id,
#include "judge/problem/compare.def"
#undef COMPARE
    COMPARE_COUNT
};

struct problem_check {
    unsigned param; /* index of the output parameter */
    enum compare_kind compare;
    int64_t ulps;    /* ulp(n) */
    int count_param; /* prefix(count), prefix_any_order(count): the parameter that holds the length;
                        -1 = none */
    int group_param; /* any_order_within(groups); -1 = none */
};

/* May elements change places? Then an index of a wrong element means little, and two right answers
 * may differ. */
static inline bool check_order_is_free(const struct problem_check *c)
{
    return c->compare == COMPARE_any_order || c->compare == COMPARE_any_order_within ||
           c->compare == COMPARE_prefix_any_order;
}

struct problem_rules {
    const char **forbid_headers; /* prefixes as included, for example "cub/" */
    unsigned forbid_header_count;
    const char **forbid_kernels; /* prefixes of qualified names, for example "cub::" */
    unsigned forbid_kernel_count;
};

struct problem_limits {
    uint64_t time_ns, total_ns, compile_ns; /* total_ns: 0 = by the others, see limits.def */
    uint64_t memory_bytes, output_bytes;
};

struct problem_cost {
    const char *case_name;
    const char *counter;
    double max;        /* unless there is an expression */
    struct expr *most; /* over the case's variables; NULL = max */
    const char *why;
};

/* One input of one case: a generator with its arguments; a row of generators.def. */
struct generator;

struct problem_case {
    const char *name; /* unique in the problem, what --case takes */
    bool is_public;
    int64_t *values;           /* per variable */
    struct generator **inputs; /* per parameter; NULL for outputs, scalars, stream */
    /* Per parameter, NULL for all but outputs: the expected answers as lists of values, of a case
     * that is an example of a statement (example.h). NULL = the oracle or the reference gives them.
     */
    struct generator **answers;
    unsigned source_line; /* in problem.yaml */
};

/* Does the submission write it, so that it is compared? */
static inline bool problem_is_output(const struct problem_param *m)
{
    return m->kind == PARAM_BUFFER && (m->role == WIRE_OUTPUT || m->role == WIRE_INOUT);
}

struct problem_hint {
    struct localized text;
};

struct problem {
    const char *id;     /* folder name */
    const char *folder; /* problems/<id> */
    const char *file;   /* problems/<id>/problem.yaml */
    struct localized title;
    enum difficulty difficulty;
    const char **tags, **after;
    unsigned tag_count, after_count;
    const char *entry;
    const char *target; /* a row of targets.def: what submissions are compiled for */
    const char *oracle; /* name of a row of oracles.def, NULL = the reference gives the answers */
    const char *reference; /* file name in reference/<id>/ of the rung that is judged against; NULL
                            * only if there is an oracle */
    unsigned reference_line, reference_column; /* where the spec names it; 0 = it does not */
    const char *checker; /* file in the problem's folder that judges some outputs; NULL = none */
    struct problem_variable *variables;
    unsigned variable_count;
    struct problem_param *params;
    unsigned param_count;
    struct problem_check *checks;
    unsigned check_count;
    struct problem_case *cases; /* expanded */
    unsigned case_count;
    int64_t **benchmark; /* [size][variable] */
    unsigned benchmark_count;
    struct expr *benchmark_bytes;
    struct problem_cost *costs;
    unsigned cost_count;
    struct problem_limits limits;
    struct problem_rules rules;
    struct problem_hint *hints;
    unsigned hint_count;
    char version[65]; /* SHA-256 of the spec: part of every cache key */
};

/* Loads problems/<id>/problem.yaml below `root`. -1 with the message described above. */
int problem_load(const char *root, const char *id, struct arena *arena, struct problem *p,
                 struct err *e);
/* The same from memory; `file` is for messages. Used by tests and the fuzzer. */
int problem_parse(const char *file, const char *text, size_t length, struct arena *arena,
                  struct problem *p, struct err *e);
/* Ids of all problems below `root`, sorted; NULL-terminated. */
int problem_list(const char *root, struct arena *arena, const char ***ids, struct err *e);

/* The prototype a submission must define: `extern "C" void exclusive_scan(const int *in, ...)`. */
const char *problem_prototype(const struct problem *p, struct arena *arena);

/* ---- one case, made concrete ---- */

struct case_buffer { /* per parameter that is a buffer */
    uint64_t count;  /* elements */
    uint64_t bytes;  /* payload */
    uint32_t misalign;
    void *input;    /* INPUT, INOUT: set by the caller before problem_case_fill, else NULL */
    void *expected; /* OUTPUT, INOUT: set by the caller before oracle_expected, else NULL */
};

struct case_data {
    const struct problem *problem;
    const struct problem_case *instance;
    uint64_t seed;
    struct case_buffer *buffers; /* per parameter */
    uint64_t *scalars;           /* per parameter: bits of scalar values */
};

/* Evaluates shapes and values. The pointers in buffers are NULL; the caller provides memory.
 * `data` lives in `arena`. -1 if an expression overflows or a size is over limits.memory. */
int problem_case_sizes(const struct problem *p, const struct problem_case *c, uint64_t seed,
                       struct arena *arena, struct case_data *data, struct err *e);
/* Fills every `input`. Depends on (seed, case name, parameter name) only. */
void problem_case_fill(struct case_data *data);

/* Fills every `expected` of a case that brings its answers along. */
void problem_case_answers(struct case_data *data);

/* Fills every `expected` by the problem's serial oracle. For a prefix output, elements past
 * the count are left alone (they are not compared). -1 when the problem has no oracle. */
int oracle_expected(struct case_data *data, struct err *e);

/* The same in parts, for several threads: oracle_part_sum() of every part [from, to) in any order,
 * then oracle_part_fill() of every part in any order, with the sum of all parts before it. Elements
 * are those of the oracle's first slot; 0 = there is no oracle that works in parts
 * (oracle_parts.def). */
uint64_t oracle_part_elements(const struct case_data *data);
uint64_t oracle_part_sum(const struct case_data *data, uint64_t from, uint64_t to);
void oracle_part_fill(struct case_data *data, uint64_t from, uint64_t to, uint64_t before);

/* ---- cost limits ---- */

/* Is this a counter that a cost limit may name? */
bool cost_counter_known(const char *name);
/* Names of wire/counters.def and those derived from them, NULL-terminated. */
const char *const *cost_counter_names(struct arena *arena);
/* Does it count what only WIRE_CHECK_COUNTERS finds out? That takes time. */
bool cost_needs_addresses(const struct problem_cost *cost);
/* What the counter of `cost` came to for this case. */
double cost_value(const struct problem_cost *cost, const struct case_data *data,
                  const struct wire_counters *counters);
/* What it may be at most. -1 if the expression cannot be computed. */
int cost_limit(const struct problem_cost *cost, const int64_t *values, double *limit,
               struct err *e);
/* "reads and writes %s bytes of global memory per element" */
const char *cost_phrase(const struct problem_cost *cost, struct arena *arena);

#endif
