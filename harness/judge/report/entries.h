/* entries: what of a result is a "test" to the readers of test reports. The cases are; what was not
 * judged is; and where there is no case to blame, the judging as a whole is one.
 *
 * Strings are fit to be shown: valid UTF-8, control characters made visible, names and headlines
 * one line each. A format adds what its own syntax asks for. */
#ifndef JUDGE_REPORT_ENTRIES_H
#define JUDGE_REPORT_ENTRIES_H

#include "judge/report/report.h"

enum entry_status {
    ENTRY_PASSED,
    ENTRY_FAILED,  /* the submission is wrong */
    ENTRY_ERROR,   /* it does not compile, or the judge failed */
    ENTRY_SKIPPED, /* not judged */
    ENTRY_STATUS_COUNT
};

struct entry {
    const char *name; /* unique among those of its result */
    enum entry_status status;
    const char *kind;            /* "accepted", "wrong_answer", "compile_error", "not_judged" ... */
    const char *headline;        /* why, in a sentence; "" where it passed */
    const char *detail;          /* all that is known, lines that end with '\n'; "" = nothing */
    const struct result_case *c; /* NULL: none of the cases */
    bool is_public;
    double ms;
    uint32_t line;              /* of the submission that is to blame, 0 = unknown */
    double points, most_points; /* equal shares of what the submission is worth */
};

struct entries {
    struct entry *items;
    unsigned count, with[ENTRY_STATUS_COUNT];
    double points, most_points;
    /* In a sentence: "wrong answer: 3 of 48 cases accepted", and what the message of the result is.
     */
    const char *summary;
};

enum { ENTRY_POINTS = 100 }; /* what a submission is worth unless the options say so */

struct entries entries_of(const struct result *r, const struct report_options *o,
                          struct arena *arena);

/* `s` as it may be shown: as report_add_escaped() has it, with `one_line` also without newlines. */
const char *entry_clean(const char *s, bool one_line, struct arena *arena);

#endif
