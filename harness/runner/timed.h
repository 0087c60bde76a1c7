/* timed: the requests that time the entry; wire/wire.h says what each does.
 *
 * Owns the device buffers of one size from WIRE_TIME_LOAD on: every set of inputs has addresses of
 * its own, and outputs have two, which take turns being written and being what was copied aside. */
#ifndef RUNNER_TIMED_H
#define RUNNER_TIMED_H

#include "runner/pass.h"

struct timed_api {
#define TIMING(name) __typeof__(name) *name;
#include "runner/timing.def"
#undef TIMING
};

struct timed_state {
    struct pass_state *pass;
    struct timed_api api;
    bool has_api, is_loaded, is_registered;
    struct wire_request size; /* the one that loaded it */
    void *inputs[WIRE_SETS_MAX][WIRE_PARAMS_MAX];
    void *outputs[2][WIRE_PARAMS_MAX]; /* workspace: the first only */
    unsigned live;                     /* which of the two the next call writes */
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
