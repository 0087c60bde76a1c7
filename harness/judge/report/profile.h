/* profile: where a program's costs are, as annotated source. Also what `judge exec` prints. */
#ifndef JUDGE_REPORT_PROFILE_H
#define JUDGE_REPORT_PROFILE_H

#include "base/text.h"
#include "wire/profile.h"

/* The worst lines, then the source with what each line costs. `source` is the text of the file with
 * the base name `file`; NULL: the lines are told without their text. */
void report_profile(const struct wire_profile *profile, const char *file, const char *source,
                    struct text *out);

/* What a line costs on a card, roughly and in warp instructions: a sector counts as 6, since a card
 * of 2022 issues about 500 warp instructions in the time in which its memory moves 80 sectors; an
 * extra pass of shared memory as 4, since one multiprocessor issues 4 instructions meanwhile. Ranks
 * lines, and says nothing about time. */
double report_line_cost(const struct wire_counters *counters);

#endif
