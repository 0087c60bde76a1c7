/* timing: how fast programs are, on one card, at the sizes of a problem's `benchmark`.
 *
 * Every entrant is a process of its own with its own context. All take turns, A B C A B C: what is
 * reported is a ratio to the reference, from rounds in which both ran. One turn: a set of inputs,
 * never the one of the turn before; outputs and workspace poisoned; the device idle; then "go": L2
 * is overwritten, and a few elements of the input change at the last moment, so that no answer can
 * be ready; the call between two events; what the outputs held when the caller's stream was done,
 * copied aside; the device idle; "done" (runner/timed.c). The outputs of every timed call of a
 * submission are compared with answers that no box ever sees, by other threads, while the next
 * rounds run.
 *
 * Times are claims of the box. The judge's clock runs from "go" to "done"; the checks of cross.h
 * hold the claims against it, against the reference's, and against what the card can move.
 *
 * timing_plan_new() starts making data at once (a judging calls it while nvcc runs) and
 * timing_measure() waits for what it needs. Threads: one caller; a plan has threads of its own. */
#ifndef JUDGE_TIMING_TIMING_H
#define JUDGE_TIMING_TIMING_H

#include "base/arena.h"
#include "judge/check/check.h"
#include "judge/problem/problem.h"
#include "judge/run/run.h"
#include "judge/stats/stats.h"

enum timing_role {
    TIMING_SUBMISSION, /* every output is checked */
    TIMING_RIVAL,      /* the same: a rung of the ladder, CUB */
    TIMING_REFERENCE,  /* what ratios refer to; at most one */
    TIMING_COPY,       /* device to device, as many bytes as benchmark.bytes says; at most one */
};

struct timing_entrant {
    const char *label;
    enum timing_role role;
    struct run_spec spec; /* runner, cudart, library, entry, limits; a copy needs no library: "" */
};

struct timing_clocks { /* of the card while one size was timed */
    bool known;
    unsigned samples;
    unsigned sm_mhz_low, sm_mhz_high, memory_mhz;
    uint64_t throttle_reasons; /* NVML's bits, all that were seen */
};

struct timing_options {
    uint64_t seed;        /* of data, order and bootstrap; never enters a box. 0 = a secret one */
    uint64_t budget_ns;   /* for the rounds of one size; 0 = TIMING_BUDGET_NS */
    double wanted;        /* width of the interval, relative; 0 = TIMING_WANTED */
    unsigned rounds_min;  /* 0 = TIMING_ROUNDS_MIN */
    unsigned rounds_max;  /* 0 = TIMING_ROUNDS_MAX */
    uint64_t flush_bytes; /* that are overwritten before each call; 0 = twice the L2 of the card */
    uint64_t answer_elements; /* that one thread works out at a time; 0 = TIMING_ANSWER_ELEMENTS */
    bool reference_answers;   /* the reference's outputs are the expected ones, not the oracle's */
    const unsigned *sizes;    /* indices into problem->benchmark; NULL = all */
    unsigned size_count;
    /* Asked between rounds, outside of every window: what the clocks are. NULL = not recorded. */
    void (*watch)(void *context, struct timing_clocks *clocks);
    void *watch_context;
    void (*progress)(void *context, const char *what, unsigned done, unsigned total);
    void *progress_context;
};

/* What one entrant came to at one size. Arrays are per round, in order. */
struct timing_series {
    unsigned rounds;
    double *ms;       /* as used: by events, or by the judge's clock where those cannot be true */
    double *event_ms; /* claimed */
    double *judge_ms; /* "go" to "done", by our clock */
    double median_ms, deviation_ms;
    struct stats_interval ratio;   /* to the reference; value 0 = there is none */
    double gb_per_s;               /* benchmark.bytes over the median */
    double of_copy;                /* the copy's median over ours; 0 = no copy */
    struct wire_finding *findings; /* cross-checks that did not hold; severity warning */
    unsigned finding_count;
    bool too_noisy; /* the budget went and the interval is still wide: the ratio is not known */
};

struct timing_size {
    const char *name;               /* "n=16777216" */
    const int64_t *values;          /* per variable */
    int64_t n;                      /* elements of the largest input */
    uint64_t bytes;                 /* benchmark.bytes */
    struct timing_series *entrants; /* in the caller's order */
    struct timing_clocks clocks;
    const char *note; /* why there are no numbers (does not fit the card); NULL */
};

/* A timed call that failed: what a case's pass would say. */
struct timing_fault {
    unsigned entrant;
    const char *size; /* its name */
    unsigned call;    /* from 1, warm-up included */
    struct run_outcome outcome;
    struct check_result check; /* where the outcome is RUN_REPLIED with WIRE_DONE */
};

/* Where the time of a measurement went. */
enum timing_phase {
    TIMING_OPEN, /* processes and contexts */
    TIMING_MAKE, /* waiting for data, and for answers and comparisons that were behind */
    TIMING_LOAD,
    TIMING_ARM,
    TIMING_GO,
    TIMING_FETCH,
    TIMING_CLOSE,
    TIMING_PHASES
};

struct timing {
    struct timing_size *sizes;
    unsigned size_count;
    double spent_ms[TIMING_PHASES];
    struct timing_fault *fault; /* the first one; measuring ends with it. NULL */
};

extern const uint64_t TIMING_BUDGET_NS, TIMING_ANSWER_ELEMENTS;
extern const double TIMING_WANTED, TIMING_LEVEL;
enum { TIMING_WARM_UPS = 3, TIMING_ROUNDS_MIN = 10, TIMING_ROUNDS_MAX = 64 };

struct timing_plan;

/* Begins to make the data of all sizes. NULL with a sentence: the spec has no benchmark, or none of
 * its cases' generators serves a size. `problem` and the arena outlive the plan. */
struct timing_plan *timing_plan_new(const struct problem *problem,
                                    const struct timing_options *options, struct arena *arena,
                                    struct err *e);

/* What the clocks are: asked between rounds, outside of every window. */
void timing_watch(struct timing_plan *plan,
                  void (*watch)(void *context, struct timing_clocks *clocks), void *context);

/* "open 310, make 20, load 95, ..." in ms. */
const char *timing_spent(const struct timing *timing, struct arena *arena);

/* Opens a box per entrant, times every size and closes the boxes. 0: `result` is filled, also when
 * an entrant failed. -1 when something of ours failed, the reference included. The calling thread
 * has to outlive the boxes (base/proc.h). */
int timing_measure(struct timing_plan *plan, const struct timing_entrant *entrants, unsigned count,
                   struct arena *arena, struct timing *result, struct err *e);

/* Also without a measurement: ends the threads and gives the memory back. NULL is fine. */
void timing_plan_free(struct timing_plan *plan);

#endif
