/* judge: one submission against one problem -> one result.
 *
 * Loads the spec, compiles the submission while it makes the cases' data and expected answers, runs
 * every case through a box (small cases under every schedule and two poisons), checks, and fills a
 * struct result. Does not print. */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "base/arena.h"
#include "base/err.h"
#include "judge/gpu/cards.h"
#include "judge/pass.h"
#include "judge/problem/problem.h"
#include "judge/report/result.h"

#include <stdbool.h>
#include <stdint.h>

struct judge_paths {  /* where things are; filled by cli from judge.sh's environment or the build */
    const char *root; /* folder with problems/ and reference/ */
    const char *runner;     /* build/bin/runner */
    const char *cudart;     /* build/lib/libcudart.so.13 */
    const char *cache;      /* compiled submissions */
    const char *meter;      /* build/lib/libsj_meter.so */
    const char *gpu_cudart; /* NVIDIA's libcudart.so.13; NULL = that of the CUDA Toolkit */
    const char *nvml;       /* NVIDIA's management library; NULL = the driver's own */
    const char *locks;      /* folder of the locks of cards; NULL = the usual one */
};

struct judge_options {
    uint64_t seed;         /* 0 = draw a secret one */
    const char *case_name; /* NULL = all */
    /* Instead of the problem's own cases; made for this problem. 0 = its own. */
    const struct problem_case *cases;
    unsigned case_count;
    uint32_t checks;           /* enum wire_check; 0 = WIRE_CHECK_DEFAULT */
    unsigned schedules;        /* seeded passes of every case that is small enough for them */
    struct pass_choice only;   /* instead of all passes, when set */
    bool on_gpu;               /* NVIDIA's libcudart and a card instead of the CPU device */
    const struct cards *cards; /* with on_gpu: the first free one of these is used */
    bool share_card;           /* do not keep others from it meanwhile: then nothing is timed */
    bool no_timing;            /* judge only */
    bool compile_only;         /* nothing is run: of the result only `compile` counts */
    /* Of tests: timing as on a card, on whatever device; 0 = as usual. */
    struct {
        bool without_card;
        uint64_t flush_bytes, budget_ns, answer_elements;
    } timing;
    bool reference_as_oracle; /* expected answers from the reference even if there is an oracle */
    bool profile;             /* costs per line of the one case, or of a small one */
    bool first_failure;       /* no case is begun after one that failed */
    bool all_cases;           /* however long they take, and however many run out of time */
    bool sanitize;            /* on a card: that case also under compute-sanitizer's tools */
    bool trace;               /* every access of that case; the first public one unless named */
    unsigned side_by_side;    /* judgings that share the processors; 0 = only this one */
    bool count;               /* also sectors and bank conflicts, in the first pass of every case */
    const char *command;      /* how people start the judge, for `reproduce`; NULL = "./judge.sh" */
    /* Called by whichever thread begins or ends a case, one at a time. */
    void (*progress)(void *context, const char *what, unsigned done, unsigned total);
    void (*waiting)(void *context, const char *sentence); /* for a card that others use */
    void *progress_context;                               /* of both */
    /* Each case once its expected answers are there, before it is run. From two threads. */
    void (*expected)(void *context, const struct case_data *data);
    void *expected_context;
};

/* 0: `result` is filled, also for a judge_error (verdict and message say so). -1: the call is wrong
 * (no such problem, a malformed spec, no such case, an unreadable file): exit status 2. */
int judge_submission(const struct judge_paths *paths, const char *problem_id, const char *source,
                     const struct judge_options *options, struct arena *arena,
                     struct result *result, struct err *e);

#endif
