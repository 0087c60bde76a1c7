/* label: what the file of a labelled submission says about itself.
 *
 *   // expect: run_time_error             the verdict; the first comment block of the file
 *   // expect-finding: out_of_bounds_read a finding that some case must have
 *   // expect-diagnosis: right set        words that some case's diagnosis must contain
 *   // gpu: accepted - why              its verdict on a card, where that is another one; any =
 * luck x = a[i]; // <-- out_of_bounds_read   a line that the finding may name; one of the marked
 * must be
 */
#ifndef JUDGE_VERIFY_LABEL_H
#define JUDGE_VERIFY_LABEL_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

enum { LABEL_LINES_MAX = 16 };

struct label {
    const char *verdict;   /* NULL = none given */
    const char *finding;   /* NULL = none */
    const char *diagnosis; /* NULL = none */
    const char *gpu;       /* "accepted - why"; NULL = none. tests/gpu/compare.sh reads it */
    unsigned lines[LABEL_LINES_MAX]; /* those marked with the kind of `finding` */
    size_t line_count;
};

/* -1: unreadable, a word given twice, a mark of a kind that is not the expected finding. */
int label_read(const char *path, struct arena *arena, struct label *label, struct err *e);

#endif
