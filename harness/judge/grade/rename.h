/* rename: a result was made from one file and is told about another one of the same content. */
#ifndef JUDGE_GRADE_RENAME_H
#define JUDGE_GRADE_RENAME_H

#include "base/text.h"

#include <jansson.h>

/* Every place where the judged file's path or name stands in the result gets that of this copy:
 * `path` where it lies, `shown` what people call it. */
void rename_result(json_t *result, const char *path, const char *shown);

/* Adds a name of the file system, made UTF-8. */
void rename_valid(const char *name, struct text *out);

#endif
