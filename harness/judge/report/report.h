/* report: a struct result in the format a reader wants; a row of formats.def per format.
 *
 * A hostile submission's output is escaped in each of them: no control character of a submission
 * reaches a terminal. */
#ifndef JUDGE_REPORT_REPORT_H
#define JUDGE_REPORT_REPORT_H

#include "base/text.h"
#include "judge/report/result.h"

#include <stdbool.h>

struct report_options {
    bool colour;
    bool verbose; /* every case, also the accepted ones, with its counters */
};

typedef void report_function(const struct result *r, const struct report_options *options,
                             struct text *out);

/* NULL if there is no such format. */
report_function *report_find(const char *format);
/* "text, json", for messages. */
const char *report_formats(void);

/* Adds `s` with control characters and invalid UTF-8 made visible (\x1b, \r ...); '\n' and '\t'
 * stay. */
void report_add_escaped(struct text *out, const char *s);

#endif
