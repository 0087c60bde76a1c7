/* headers: which files the compiler really read for one source.
 *
 * Taken from its dependency output, so that no macro can hide an #include. They decide about
 * forbidden headers, about files that a submission must not read at all, and about whether a cached
 * result is still true. */
#ifndef JUDGE_COMPILE_HEADERS_H
#define JUDGE_COMPILE_HEADERS_H

#include "base/arena.h"
#include "base/text.h"
#include "judge/compile/compile.h"

#include <stdbool.h>
#include <stddef.h>

enum header_kind {
    HEADER_TOOLKIT = 'T', /* named by the toolkit's version */
    HEADER_SYSTEM = 'S',  /* identity: size and modification time */
    HEADER_LOCAL = 'L',   /* identity: SHA-256 of the contents */
};

struct header {
    enum header_kind kind;
    const char *path;     /* absolute */
    const char *identity; /* as found when it was compiled; "" of the toolkit */
};

struct headers {
    struct header *items;
    size_t count;
};

/* Parses make-style dependencies ("target: file file \"). Relative names are below `folder`; the
 * files of `own` (NULL-terminated) are left out. -1 if the text is something else. */
int headers_parse(const char *dependencies, const char *folder, const char *const *own,
                  const struct toolkit *t, const char *host_compiler, struct arena *arena,
                  struct headers *h, struct err *e);

/* Whether every header is what it was. */
bool headers_unchanged(const struct headers *h, struct arena *arena);

/* The first header whose name, from any folder of its path on, starts with one of the prefixes:
 * "cub/" matches ".../include/cccl/cub/cub.cuh". `name` is that part, `prefix` the rule; NULL if
 * there is none. */
const struct header *headers_forbidden(const struct headers *h, const char *const *prefixes,
                                       unsigned prefix_count, const char **name,
                                       const char **prefix);

/* One line per header, and back. headers_load returns false for text that headers_save did not
 * write. */
void headers_save(const struct headers *h, struct text *to);
bool headers_load(const char *text, struct arena *arena, struct headers *h);

#endif
