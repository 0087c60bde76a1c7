/* compare: one output against its expected answer, by a row of compare.def. */
#ifndef JUDGE_CHECK_COMPARE_H
#define JUDGE_CHECK_COMPARE_H

#include "judge/check/value.h"
#include "judge/problem/problem.h"

/* One output of one case as it came back, beside what it should be. */
struct output_view {
    const struct case_data *data;
    const struct problem_check *check;
    const char *name;
    struct series got, expected; /* the whole buffer, `got.count` elements */
    uint64_t compared;           /* that many are compared; the rest must be untouched */
    const uint8_t *original;     /* INOUT: what "untouched" means for the rest; NULL = the poison */
    uint64_t poison_from;        /* where the payload begins in the whole buffer */
    uint64_t poison_seed;
};

struct difference {
    uint64_t first, count; /* count 0 = it passes */
    bool beyond;           /* the first wrong element is one that must be left alone */
    uint8_t *wrong_at; /* NULL, or a byte per element of the buffer that is set where it is wrong */
};

/* Fills `difference`; its wrong_at is the caller's (zeroed) or NULL. */
void compare_output(const struct output_view *view, struct difference *difference);

/* What `count` elements from `index` on hold if nobody wrote them. */
void view_untouched_bytes(const struct output_view *view, uint64_t index, uint64_t count,
                          uint8_t *bytes);
/* Does this element still hold the poison that was there before the call? */
bool view_is_untouched(const struct output_view *view, uint64_t index);

/* Sorts `count` values ascending; `scratch` holds as many. Least significant byte first, passes in
 * which all values share the byte are skipped. */
void compare_sort(uint64_t *values, uint64_t *scratch, uint64_t count);

#endif
