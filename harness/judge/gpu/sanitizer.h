/* sanitizer: what compute-sanitizer's tools print -> findings of our kinds.
 *
 * A report is made in the box's reach, so it is a claim like everything else that comes from there:
 * whatever it holds, what comes out is well-formed. */
#ifndef JUDGE_GPU_SANITIZER_H
#define JUDGE_GPU_SANITIZER_H

#include "wire/wire.h"

/* Reads the report of `tool` ("memcheck", ...) and returns how many findings it put into `out`:
 * those of one kind and line are one with a count. Lines of `source` (a path, or its base name) are
 * preferred to those of headers. *why: NULL, or the line in which the tool says that it could not
 * work at all (in `log`, up to its end). */
unsigned sanitizer_read(const char *tool, const char *log, const char *source,
                        struct wire_finding *out, unsigned capacity, const char **why);

#endif
