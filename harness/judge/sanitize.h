/* sanitize: one case on a card, once under each of compute-sanitizer's tools.
 *
 * A run of its own for each tool, after the case was judged: the answers do not matter there, only
 * what the tool reports, which becomes findings of the case. */
#ifndef JUDGE_SANITIZE_H
#define JUDGE_SANITIZE_H

#include "judge/case.h"

/* Adds to the result's findings, and fails an accepted case that got an error among them. Says
 * which tools ran in result->sanitized. -1 also when a tool does not do its work: it was asked for.
 */
int sanitize_case(struct case_run *r, struct err *e);

#endif
