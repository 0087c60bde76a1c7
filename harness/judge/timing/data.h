/* data: what one size is timed with, on the host.
 *
 * SETS_COUNT sets of inputs with different contents, in one region that the boxes can read. Before
 * every round the set whose turn it is changes in a few places (data_freshen), and jobs of the
 * pool work out the new answers, in memory of ours. A set is busy from then until everything that
 * was computed from it has been compared. */
#ifndef JUDGE_TIMING_DATA_H
#define JUDGE_TIMING_DATA_H

#include "judge/problem/problem.h"
#include "judge/problem/request.h"
#include "judge/run/run.h"
#include "judge/timing/pool.h"

#include <pthread.h>

enum { SET_COUNT = 3 };

struct size_data;

struct data_set {
    struct case_data data; /* buffers of its own; inputs in the region, answers in `answers` */
    void *answers;
    struct pool_group busy, summing, answering;
    uint64_t *part_sums; /* of the parts that the oracle works in */
    struct size_data *size;
    const uint8_t *reference_outputs; /* where the answers come from, if not from the oracle */
};

struct data_part { /* of the work of filling: one input of one set */
    struct data_set *set;
    unsigned set_index, param;
    uint64_t per_part; /* elements */
};

struct size_data {
    const char *name; /* "n=16777216" */
    const int64_t *values;
    int64_t n;
    uint64_t bytes; /* benchmark.bytes */
    uint64_t seed;
    struct problem_case instance;
    struct wire_request request; /* of the first set; without action, device and poison */
    uint64_t set_bytes, answer_bytes;
    uint64_t all_bytes; /* that it takes, with one entrant's outputs */
    bool is_begun;
    struct run_region inputs;
    struct run_region outputs; /* of the first entrant that is checked; OUTPUT_SLOTS in a row */
    struct data_set sets[SET_COUNT];
    struct data_part parts[SET_COUNT][WIRE_PARAMS_MAX];
    struct pool *pool; /* that makes it */
    struct pool_group making;
    uint64_t answer_elements; /* of a part of the answers; the last part has fewer */
    unsigned answer_parts;
    pthread_mutex_t lock; /* of the two below */
    int make_status;      /* of both regions and the answers; -1: `make_error` */
    struct err make_error;
    struct arena *arena;
};

enum { OUTPUT_SLOTS = 2 };

/* Everything but contents. -1 when no case's generators serve this size: the spec is wrong. */
int data_init(struct size_data *s, const struct problem *p, const int64_t *values, uint64_t seed,
              uint64_t answer_elements, struct arena *arena, struct err *e);
/* Adds the jobs that allocate and fill everything. Once. */
void data_make(struct size_data *s, struct pool *pool);
/* Waits for them. -1 when there was no memory. */
int data_wait(struct size_data *s, struct err *e);
/* Changes the inputs of a set that is not busy; says where. */
unsigned data_freshen(struct size_data *s, unsigned set, uint64_t round,
                      struct wire_patch patches[WIRE_PATCHES_MAX]);
/* Adds the jobs that work out the answers of a set: they are there once its group `answering` has
 * no jobs. `reference_outputs` as in its region, which is read until `region` has no jobs; both
 * NULL: the oracle. */
void data_answer(struct size_data *s, unsigned set, const uint8_t *reference_outputs,
                 struct pool_group *region);
/* Waits until a set is not busy. */
void data_wait_for_set(struct size_data *s, unsigned set);
void data_release(struct size_data *s);

#endif
