/* suggest: the known name that is nearest to a misspelt one. */
#ifndef JUDGE_PROBLEM_SUGGEST_H
#define JUDGE_PROBLEM_SUGGEST_H

#include <stddef.h>

/* The nearest of `names` (NULL entries are skipped) by edit distance, swapped neighbours counting
 * as one; NULL if none is near: more than a third of the letters wrong, or more than 3. */
const char *suggest(const char *name, const char *const *names, size_t count);

#endif
