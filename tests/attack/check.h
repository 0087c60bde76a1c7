/* check: does the report on an attack say what its label says? */
#ifndef ATTACK_CHECK_H
#define ATTACK_CHECK_H

#include "ring.h"

/* Appends to `why` what is otherwise: verdict, findings, words, a breach that the attack tells of,
 * a case that took too long, a hidden case that its own command does not show again. */
void check_report(const struct ring *ring, const struct attack *attack, const struct e2e_run *run,
                  struct text *why);

#endif
