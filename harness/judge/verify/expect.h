/* expect: is a result what the place and the label of its file say? */
#ifndef JUDGE_VERIFY_EXPECT_H
#define JUDGE_VERIFY_EXPECT_H

#include "judge/report/result.h"
#include "judge/verify/label.h"

struct expectation {
    enum verdict verdict; /* by its folder */
    bool clean;           /* no finding at all, not even a warning: references */
    const struct label *label;
    const char *source; /* path; findings name its last part */
};

/* NULL if it is; else a sentence about what came instead. */
const char *expect_check(const struct expectation *x, const struct result *r, struct arena *arena);

/* "case 'n=33', data_race at a.cu:12": the first failing case, or the message of the result. */
const char *expect_describe(const struct result *r, struct arena *arena);

#endif
