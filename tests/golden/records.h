/* records: results as judgings would fill them, each for one thing that a report must get right. */
#ifndef TESTS_GOLDEN_RECORDS_H
#define TESTS_GOLDEN_RECORDS_H

#include "judge/report/report.h"

struct record {
    const char *name; /* expected/<format>/<name>.<extension> */
    struct result result;
    struct report_options options;
};

extern const struct record RECORDS[];
extern const unsigned RECORD_COUNT;

#endif
