/* scaffold: the files of a new problem, from a short description of it.
 *
 * What comes out loads, and judges: the reference's body is all that is missing, since it gives the
 * expected answers. Then `judge verify` says what is left to write. */
#ifndef JUDGE_PROBLEM_SCAFFOLD_H
#define JUDGE_PROBLEM_SCAFFOLD_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

enum { SCAFFOLD_BUFFERS_MAX = 24, SCAFFOLD_AFTER_MAX = 8, SCAFFOLD_FILES_MAX = 8 };

struct scaffold_buffer {
    const char *name, *type, *shape; /* "in", "int32", "n" or "rows, columns" */
    bool is_output;
};

struct scaffold {
    const char *id;
    const char *title, *title_zh; /* title_zh: NULL = none */
    const char *difficulty, *entry;
    const char *after[SCAFFOLD_AFTER_MAX];
    unsigned after_count;
    struct scaffold_buffer buffers[SCAFFOLD_BUFFERS_MAX];
    unsigned buffer_count;
};

struct scaffold_file {
    const char *path; /* below the root: "problems/my-scan/problem.yaml" */
    const char *text;
};

/* Reads `name:type:shape` into the next buffer. -1 with what was found and what is allowed. */
int scaffold_add_buffer(struct scaffold *s, const char *words, bool is_output, struct arena *arena,
                        struct err *e);

/* Every file. -1 if the description makes no problem: then the error is that of its YAML. */
int scaffold_files(const struct scaffold *s, struct arena *arena,
                   struct scaffold_file files[SCAFFOLD_FILES_MAX], unsigned *count, struct err *e);

#endif
