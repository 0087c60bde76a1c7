/* result: one plain record of one judging. Reporters read it and nothing else; every format derives
 * from it. Strings belong to the arena of whoever filled it. Fields may be added, never renamed. */
#ifndef JUDGE_REPORT_RESULT_H
#define JUDGE_REPORT_RESULT_H

#include "judge/gpu/ncu.h"
#include "sandbox/sandbox.h"
#include "wire/profile.h"
#include "wire/trace.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct result_mismatch {
    const char *output; /* NULL = no mismatch */
    uint64_t index, count;
    const char *expected, *got;
};

struct result_pass { /* the circumstances of a pass */
    bool has_pass;
    const char *schedule; /* "last-first" */
    uint64_t seed;        /* of the schedule */
    bool found_by_search; /* --schedules N: the seed says everything */
    bool delay_stores;
    uint32_t resident_blocks; /* 0 = as many as fit */
    const char *stream_order; /* "late" */
};

struct result_case {
    const char *name;
    enum verdict verdict;
    bool is_public;
    double ms; /* wall time of all passes */
    unsigned passes;
    bool unfinished; /* the limit on the whole judging came first: accepted so far, not told */
    const char *failing_schedule; /* of the first failing pass, NULL */
    struct result_pass failing;   /* the same with all there is; has_pass false: not told */
    struct result_mismatch mismatch;
    const char *diagnosis; /* NULL */
    struct wire_finding *findings;
    unsigned finding_count;
    bool has_counters;
    struct wire_counters counters;
    const struct wire_profile *profile; /* NULL: not asked for, or profile_note says why */
    const char *profile_note;
    const struct card_profile *card_profile; /* on a card, when it was asked for; then `counters`
                                                are those of the CPU device for the same run */
    const struct wire_trace *trace;          /* the same */
    const char *trace_note;
    const char *sanitized; /* "memcheck: 0, racecheck: 2, ...": findings per tool; NULL: none ran */
    const char *reproduce; /* command; NULL for an accepted case */
    const char *stdout_text, *stderr_text; /* what the submission printed, capped, "" */
};

struct result_compile {
    bool ok, cached;
    double ms;
    const char *log;
    const char *library; /* what it compiled to, in the cache; NULL = nothing */
};

struct result_timing {
    int64_t n;        /* elements of the largest input */
    const char *size; /* "n=65536" */
    const char *note; /* why there are no numbers, NULL */
    double ms, reference_ms, ratio, ratio_low, ratio_high, gb_per_s, of_copy;
    double copy_ms, deviation_ms; /* of `ms`: how far a typical call is from it */
    uint64_t bytes;               /* that must move at least */
    unsigned rounds;
    const double *samples, *reference_samples; /* [rounds], ms */
    bool too_noisy;                            /* the ratio is not known */
    struct wire_finding *findings;             /* why the times are in doubt; warnings */
    unsigned finding_count;
    bool has_clocks;
    unsigned sm_mhz_low, sm_mhz_high, memory_mhz;
    const char *throttled; /* why the card was slower than it can be, NULL */
};

struct result {
    const char *problem, *submission, *device; /* "cpu" | "gpu" */
    const char *card, *card_uuid;              /* which one, as the driver names it; else NULL */
    enum verdict verdict;
    const char *message; /* judge_error and compile_error: a sentence; else NULL */
    const char *skipped; /* nothing was judged, and not for a fault of anybody's: why (no card);
                            then `verdict` is judge_error. Else NULL */
    const char *source;  /* the text of the submission, where a case has a profile; else NULL */
    uint64_t seed;
    const struct sandbox_isolation *isolation; /* NULL: nothing was run */
    struct result_compile compile;
    struct result_case *cases;
    unsigned case_count;
    const char **not_judged; /* names of the cases that have no verdict; `message` says why */
    unsigned not_judged_count;
    struct result_timing *timing;
    unsigned timing_count;
    double timing_ms;            /* what timing took in all */
    const char *timing_spent_ms; /* and what for, NULL */
    double total_ms;
};

#endif
