/* example: the worked examples of a statement, as cases that bring their answers along.
 *
 * An example is a fenced block of statement.md (and .zh.md) with the info string `example`:
 *
 *   ```example
 *   n     = 8
 *   in    = 2 -1 0.5 0 -3 7 -0.0 1
 *   out   = 2 0.5 7 1 …
 *   count = 4                            # what follows a # is for people
 *   ```
 *
 * A line names a variable, an input or an output of the problem; a line without a name goes on with
 * the one above. All of them are given, each once, and whole; only an output that is compared as a
 * prefix may end with `…` (or `...`): what is left alone. What a case would accept as a list of
 * values is a value here. `?` alone stands for an output that is not known yet. */
#ifndef JUDGE_PROBLEM_EXAMPLE_H
#define JUDGE_PROBLEM_EXAMPLE_H

#include "judge/problem/problem.h"

/* All examples of one statement; `file` is for messages and for the cases' names ("example 2 of
 * statement.md"). *cases belongs to the arena; *count may be 0. -1 with `file:line: ...`. */
int examples_read(const struct problem *p, const char *file, const char *text, struct arena *arena,
                  struct problem_case **cases, unsigned *count, struct err *e);

/* Is every output known? */
bool example_is_complete(const struct problem *p, const struct problem_case *example);

/* Do two lists of examples say the same? The number of the first that differs, from 1; 0 = all are
 * the same. Missing ones differ. */
unsigned examples_differ(const struct problem *p, const struct problem_case *a, unsigned a_count,
                         const struct problem_case *b, unsigned b_count);

#endif
