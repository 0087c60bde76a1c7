/* generate: the contents of one input of one case.
 *
 * A generator is a row of generators.def with its arguments, or a literal list. What it makes
 * depends on its arguments and a 64-bit key only, element by element (base/rng.h), so that one case
 * can be made again alone. generator_check() finds every problem before generator_fill(), which
 * cannot fail. */
#ifndef JUDGE_PROBLEM_GENERATE_H
#define JUDGE_PROBLEM_GENERATE_H

#include "base/arena.h"
#include "base/err.h"
#include "judge/problem/expr.h"
#include "wire/wire.h"

#include <stdint.h>

struct generator;

/* From `uniform(-9, n)`. NULL with *error (offset into the text, found, allowed). */
struct generator *generator_parse(const char *text, enum wire_type type,
                                  const struct expr_names *names, struct arena *arena,
                                  struct expr_error *error);

/* An empty literal list with room for `capacity` values. */
struct generator *generator_literal(unsigned capacity, struct arena *arena);
/* Adds `-3`, `0.5`, `nan`, `-inf`; NULL, or what is allowed instead. */
const char *generator_literal_add(struct generator *g, enum wire_type type, const char *text);

/* Can it make `count` elements of `type` for these variables? -1 with a sentence if not. */
int generator_check(const struct generator *g, enum wire_type type, uint64_t count,
                    const int64_t *variables, struct err *e);

/* Writes `count` elements to `out`. Call only after generator_check() agreed. */
void generator_fill(const struct generator *g, enum wire_type type, uint64_t count,
                    const int64_t *variables, uint64_t key, void *out);

/* Elements [from, to) alone of what generator_fill() writes, to the same places in `out`: parts can
 * be made at the same time, and again. */
void generator_fill_part(const struct generator *g, enum wire_type type, uint64_t count,
                         const int64_t *variables, uint64_t key, uint64_t from, uint64_t to,
                         void *out);

/* May parts of it come from other keys than the rest? Not if all elements belong together. */
bool generator_mixes(const struct generator *g);

/* Is it a list of values? It has one length. */
bool generator_is_literal(const struct generator *g);

/* Do two lists hold the same values, bit for bit? */
bool generator_same_literal(const struct generator *a, const struct generator *b);

#endif
