/* timed: the requests that time the entry; wire/wire.h says what each does.
 *
 * Owns the device buffers of one size from WIRE_TIME_LOAD on: every set of inputs has addresses of
 * its own, and outputs have two, which take turns being written and being what was copied aside.
 *
 * Where a small call finds its buffers decides about its time: 0.1 to 0.2 us on an H200, the same
 * in every call as long as nothing moves. So small sizes have many places, each with every buffer,
 * and the calls go round over them; a set of inputs is copied to a place before its call. */
#ifndef RUNNER_TIMED_H
#define RUNNER_TIMED_H

#include "runner/pass.h"

struct timed_api {
#define TIMING(name) __typeof__(name) *name;
#include "runner/timing.def"
#undef TIMING
};

enum { TIMED_PLACES_MAX = 64 };

struct timed_state {
    struct pass_state *pass;
    struct timed_api api;
    bool has_api, is_loaded, is_registered;
    struct wire_request size; /* the one that loaded it */
    void *inputs[WIRE_SETS_MAX][WIRE_PARAMS_MAX];
    void *outputs[2][WIRE_PARAMS_MAX]; /* workspace: the first only */
    unsigned live;                     /* which of the two the next call writes */
    void *places[TIMED_PLACES_MAX][WIRE_PARAMS_MAX];
    unsigned place_count, turns;    /* no places: sets and outputs are where calls find them */
    uint8_t *at[WIRE_PARAMS_MAX];   /* where the next call finds a buffer; the latest one did */
    uint8_t *kept[WIRE_PARAMS_MAX]; /* where its output is copied aside */
    void *flush;
    uint64_t flush_bytes;
    uint8_t flush_value;
    cudaEvent_t before, after, aside;
    uint64_t poison_seed; /* of the call that comes next, or came last */
    uint8_t *chunk;       /* poison on its way to the device */
    uint8_t *staged;      /* patches on theirs: pinned, so that nobody waits for them */
};

void timed_init(struct timed_state *t, struct pass_state *pass);

/* Fills `reply` for any action but WIRE_RUN. */
void timed_run(struct timed_state *t, const struct wire_request *request, const int fds[2],
               struct wire_reply *reply);

#endif
