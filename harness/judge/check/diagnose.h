/* diagnose: what the pattern of a wrong answer shows, in terms of scans.
 *
 * A table of small recognisers (diagnoses.def), most specific first; the first that fits speaks.
 * A sentence says what the numbers show ("every wrong value is short by the same amount") and names
 * a cause only as far as the pattern proves it. Runs only on wrong answers, so it may take its
 * time: each recogniser is linear in the output, most stop at the first element that does not fit.
 */
#ifndef JUDGE_CHECK_DIAGNOSE_H
#define JUDGE_CHECK_DIAGNOSE_H

#include "base/arena.h"
#include "judge/check/compare.h"

enum relation { RELATION_NONE, RELATION_EXCLUSIVE, RELATION_INCLUSIVE };

/* The indices (but 0) at which the error changes. */
struct diagnosis_steps {
    uint64_t first, count, tile; /* tile: what divides all of them */
};

/* `expected` is a scan of each `length` elements of an input on their own; length n: of them all.
 */
struct diagnosis_rows {
    uint64_t length;
    enum relation relation; /* RELATION_NONE: of nothing that was found */
    struct series in;
    const char *in_name;
};

/* What several recognisers ask for, found once. */
struct diagnosis_cache {
    bool has_rows;
    struct diagnosis_rows rows;
    bool has_steps, has_histogram;
    struct diagnosis_steps steps;
    struct series counted; /* the input that `expected` is the histogram of; no bytes = none */
    uint64_t outside;      /* values of it that no bin counts */
};

struct diagnosis_context {
    const struct case_data *data;
    const struct output_view *views; /* every output */
    const struct difference *differences;
    unsigned view_count, wrong; /* views[wrong] is explained */
    const struct output_view *view;
    struct series got, expected; /* its compared elements */
    uint64_t n;                  /* how many those are */
    uint64_t first, wrong_count; /* wrong elements among them: the first, how many */
    struct series in;            /* what `expected` is a scan of; no bytes if nothing fits */
    const char *in_name;
    enum relation relation;
    const uint8_t *wrong_at;  /* per element: 1 = wrong */
    const uint8_t *untouched; /* per element: 1 = still holds what was there before the call */
    struct diagnosis_cache *cache;
    struct arena *arena;
};

/* A sentence in the arena, or NULL. */
typedef const char *diagnosis_function(const struct diagnosis_context *c);

#define DIAGNOSIS(id, positional, shows) diagnosis_function diagnose_##id;
#include "judge/check/diagnoses.def"
#undef DIAGNOSIS

/* Explains views[wrong], whose difference is not empty. NULL if no recogniser fits. */
const char *diagnose(const struct case_data *data, const struct output_view *views,
                     const struct difference *differences, unsigned view_count, unsigned wrong,
                     struct arena *arena);

/* ---- shared by the recognisers ---- */

/* expected[i] - got[i], as series_difference(). */
static inline int64_t diagnosis_error(const struct diagnosis_context *c, uint64_t i)
{
    return series_difference(&c->expected, i, &c->got, i);
}

/* Which rows `expected` scans; never NULL. */
const struct diagnosis_rows *diagnosis_find_rows(const struct diagnosis_context *c);

/* a[i] + b[j] == sum[k], in the arithmetic of `sum`. */
bool diagnosis_adds_up(const struct series *a, uint64_t i, const struct series *b, uint64_t j,
                       const struct series *sum, uint64_t k);
/* "short by 4608" or "too large by 3". */
const char *diagnosis_amount(const struct diagnosis_context *c, int64_t error);
/* "1024 (a multiple of 1024)", or "1000" where no power of two from 32 on divides it. */
const char *diagnosis_index(const struct diagnosis_context *c, uint64_t index);
/* The largest power of two that divides x; x > 0. */
uint64_t diagnosis_power_of_two(uint64_t x);

#endif
