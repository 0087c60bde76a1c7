/* mutants: what a problem's cases are worth, measured by small faults in submissions it accepts.
 *
 * Every file of submissions/<id>/accepted/ is mutated (judge/mutate), and some or all of the
 * mutants are judged up to their first failing case. One that is accepted survives: either no case
 * can tell it apart, or it is no fault at all. The latter are named, with the reason, in
 * problems/<id>/mutants.tsv and do not count:
 *
 *   file <tab> mutation <tab> the line as it became <tab> why it changes nothing
 *
 * (file:line where a file has that line more than once). One that is accepted with a warning of a
 * kind that the original does not get is noticed, too.
 *
 * A mutant whose compiled code is that of the original does not count either. */
#ifndef JUDGE_VERIFY_MUTANTS_H
#define JUDGE_VERIFY_MUTANTS_H

#include "judge/judge.h"
#include "judge/mutate/mutate.h"

enum mutant_outcome {
    MUTANT_CAUGHT,
    MUTANT_SURVIVED,
    MUTANT_EQUIVALENT, /* named, or of the same code */
    MUTANT_STILLBORN,  /* does not compile */
    MUTANT_FAULT,      /* of ours */
};

struct mutant_subject { /* one mutant of one file */
    const char *file;   /* "scan.cu" */
    const char *source; /* its whole text */
    size_t length;
    const struct mutant *mutant;
    const char *reason; /* from mutants.tsv; NULL = not named */
};

struct mutant_set {
    struct mutant_subject *items; /* all there are, in order */
    unsigned count, named;
    const char *folder; /* submissions/<id>/accepted; reference/<id> if nothing is there */
};

/* Lists all mutants of a problem and reads mutants.tsv, each row of which must name one. -1 with a
 * sentence that names file and line. */
int mutants_find(const char *root, const char *problem_id, struct arena *arena,
                 struct mutant_set *set, struct err *e);

struct mutant_tally {
    unsigned judged, caught, survived, equivalent, stillborn, faults;
    unsigned warned; /* of those that are caught: accepted, with a warning */
};

struct mutant_choice {
    unsigned sample; /* that many of them, drawn by `seed`; 0 = all */
    uint64_t seed;
    /* With `parts`: part 1, 2, ... of that many, which together are all of them. For a problem with
     * more mutants than can be judged at a time. 0 = the sample, or all. */
    unsigned part, parts;
    unsigned workers;
    void (*progress)(void *unused, const char *what, unsigned done, unsigned total); /* or NULL */
};

/* Called for each in turn. `how`: the verdict and case that caught it, or what went wrong. */
typedef void mutant_told(void *context, const struct mutant_subject *s, enum mutant_outcome outcome,
                         const char *how);

/* Judges the chosen ones; `options` with first_failure set. */
int mutants_judge(const struct judge_paths *paths, const char *problem_id,
                  const struct judge_options *options, const struct mutant_set *set,
                  const struct mutant_choice *choice, mutant_told *told, void *context,
                  struct mutant_tally *tally, struct err *e);

/* Of those that count, at least 98 in 100 must be caught. All of them were judged: is that so? A
 * sample: could it be (one in a hundred samples of a problem that keeps 98 is taken for worse)? */
bool mutants_are_enough(const struct mutant_tally *tally, bool all);

#endif
