/* checker: a problem's own program that says whether an answer is right (problems/checker.h).
 *
 * It is part of the problem and still shut in like everything that we did not write. It gets files
 * and gives an exit status, 42 or 43 as in Kattis packages; any other end is the problem's fault.
 * Compiled once per judging, in a box as well, with the headers of its folder and
 * problems/checker.h; checker_judge() may be called from any thread. */
#ifndef JUDGE_CHECKER_H
#define JUDGE_CHECKER_H

#include "base/text.h"
#include "judge/compile/compile.h"
#include "judge/problem/problem.h"

struct checker {
    const char *program; /* NULL = the problem has none */
    const char *cudart;  /* for a checker that uses CUDA */
    const char *name;    /* "problems/x/check.c", for messages */
};

/* How it is compiled. */
void checker_compile_spec(const struct problem *p, const char *root, const char *cache,
                          struct arena *arena, struct compile_spec *spec);

/* What came of compiling it: -1 if it does not compile. */
int checker_take(struct checker *k, const struct compile_spec *spec, int status,
                 const struct compile_result *compiled, const struct err *error,
                 struct arena *arena, struct err *e);

/* All of it at once, for who judges nothing. */
int checker_prepare(struct checker *k, const struct problem *p, const char *root, const char *cache,
                    const char *cudart, struct arena *arena, struct err *e);

/* Asks it about one answer: `outputs` and `request` as for check_case(). *accepted, and what it
 * printed. -1 when it did not answer. */
int checker_judge(const struct checker *k, const struct case_data *data,
                  const struct wire_request *request, const uint8_t *outputs, bool *accepted,
                  struct text *said, struct err *e);

#endif
