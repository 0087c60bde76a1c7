/* cross: can these times be true?
 *
 * What a box says of its own time is a claim. Each check holds it against something that the box
 * does not decide: the judge's clock, the reference and the copy in the same rounds, what the card
 * can move. A check that does not hold is a finding of severity warning: the outputs were right,
 * and the time is in doubt. Pure functions. */
#ifndef JUDGE_TIMING_CROSS_H
#define JUDGE_TIMING_CROSS_H

#include "wire/wire.h"

#include <stdbool.h>

struct cross_series {
    const double *event_ms;  /* claimed: the call */
    const double *window_ms; /* claimed: the call, and its outputs copied aside */
    const double *judge_ms;  /* ours: from "go" to "done" */
    unsigned rounds;
    const double *warm_up_ms; /* claimed */
    unsigned warm_ups;
    uint64_t persisting_bytes; /* the most that was set aside in L2 before a call */
};

struct cross_card {
    double gap_ms; /* judge's clock less claimed window, of those that have no reason to lie */
    double gap_deviation_ms; /* and how far that varies */
    double aside_ms;         /* what copying the outputs aside should take; 0 = not known */
    double copy_ms;          /* a copy of as many bytes; 0 = there is none */
    double gb_per_s;         /* the fastest copy of any size; 0 = there is none */
    uint64_t bytes;          /* that must move at least */
};

enum { CROSS_FINDINGS_MAX = 4 };

/* The median of what the judge's clock has more than the claimed window, and how far it varies
 * (may be NULL). */
double cross_gap(const struct cross_series *s, double *deviation);

/* Does the claimed time leave out something that the judge's clock has seen? */
bool cross_timers_differ(const struct cross_series *s, const struct cross_card *card);

/* All checks; `median_ms` is the time that is going to be reported. Returns how many findings. */
unsigned cross_check(const struct cross_series *s, const struct cross_card *card, double median_ms,
                     struct wire_finding findings[CROSS_FINDINGS_MAX]);

#endif
