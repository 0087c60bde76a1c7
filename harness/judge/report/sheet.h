/* sheet: the record of one `judge grade`: a row per file that was handed in. Strings are UTF-8 and
 * belong to whoever filled it. */
#ifndef JUDGE_REPORT_SHEET_H
#define JUDGE_REPORT_SHEET_H

#include "base/text.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct sheet_row {
    const char *student, *problem, *file;
    bool is_judged; /* else what follows, but for `key`, means nothing */
    enum verdict verdict;
    const char *reason, *judged_at, *card; /* card "" = none */
    const char *same_as; /* the file of this content that was judged; NULL = this */
    const char *key;
    unsigned number; /* of whoever filled it */
    uint64_t seed;
    double ms;
    unsigned passed, cases;
    bool is_best; /* of this student's files for this problem */
};

struct sheet_left_out {
    const char *file, *why;
};

struct sheet {
    struct sheet_row *rows; /* a student's together, and of those a problem's */
    unsigned row_count;
    struct sheet_left_out *left_out;
    unsigned left_out_count;
    unsigned judged_now, gathered; /* records that this call added */
};

struct sheet_counts {
    unsigned students, problems, accepted, judge_errors, not_judged, copies;
};

/* Sets is_best: an accepted one, else the one that passes most of its cases, else the first. */
void sheet_choose_best(struct sheet *s);

void sheet_count(const struct sheet *s, struct sheet_counts *counts);

/* Tables for a person: by problem, by student; what was left out; a line about the whole. */
void report_sheet_text(const struct sheet *s, struct text *out);
/* RFC 4180, a row per file. What a spreadsheet would take for a formula gets a ' in front of it. */
void report_sheet_csv(const struct sheet *s, struct text *out);
/* An object per file, names as they are; what was left out has "not_graded". */
void report_sheet_jsonl(const struct sheet *s, struct text *out);

#endif
