/* kernels: the names of the kernels in what was compiled.
 *
 * Read from the PTX in the library, so that no macro, wrapped namespace or pasted copy of a header
 * can hide whose kernels they are. What a submission builds while it runs is not seen. */
#ifndef JUDGE_COMPILE_KERNELS_H
#define JUDGE_COMPILE_KERNELS_H

#include "base/arena.h"
#include "base/err.h"

/* "_ZN4mine3cub6detail11EmptyKernelIvEEvv" -> "mine::cub::detail::EmptyKernel"; a name that is not
 * mangled, or mangled in no way that kernels are, stays what it is. */
const char *kernels_readable(const char *symbol, struct arena *arena);

/* The first kernel in the file at `path` whose name, from any of its namespaces on, starts with one
 * of the prefixes: "cub::" matches "mine::cub::detail::EmptyKernel". `*name` is that name from
 * there on, and NULL if there is none; `*prefix` the rule. -1 if the file cannot be read. */
int kernels_forbidden(const char *path, const char *const *prefixes, unsigned prefix_count,
                      struct arena *arena, const char **name, const char **prefix, struct err *e);

#endif
