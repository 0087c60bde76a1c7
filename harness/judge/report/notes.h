/* notes: what is to be said at a place in a file: the compiler's messages, findings, and each way
 * of failing that no finding tells of. For formats that annotate sources.
 *
 * The same thing in many cases is one note. Titles and messages are fit to be shown
 * (entry_clean()); a path is the bytes of a file's name. */
#ifndef JUDGE_REPORT_NOTES_H
#define JUDGE_REPORT_NOTES_H

#include "judge/report/report.h"

struct note {
    bool is_error;         /* else a warning */
    const char *rule;      /* "data_race", "wrong_answer", "compile_error", "compile_warning" */
    const char *rule_says; /* what the rule stands for, in a few words */
    const char *path;      /* of the submission, as report_path() has it; NULL: the judge failed */
    uint32_t line, column; /* 0 = unknown */
    const char *title;     /* "data race, in case 'n=1025' and 2 more" */
    const char *message;
    const struct result *result;
    const char *case_name; /* the first one; NULL: none */
};

struct notes {
    struct note *items;
    unsigned count;
};

/* In the order of the results; of one result, the compiler first. */
struct notes notes_of(const struct result *const *results, unsigned count,
                      const struct report_options *o, struct arena *arena);

/* The name of a submission from the root of the repository, "/" between its parts; what is not
 * below the root keeps its name. No file is looked at. */
const char *report_path(const char *submission, const struct report_options *o,
                        struct arena *arena);

#endif
