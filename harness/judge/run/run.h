/* run: run what we do not trust.
 *
 * A box is one process of the runner with one submission loaded. run_open() starts it, run_pass()
 * gives it one request and waits within a limit, run_close() ends it and everything it started.
 * After a crash, a time-out or a sticky CUDA error the box is dead: the caller opens a fresh one,
 * so that every case gets its own verdict. Nothing else in the judge starts a submission; how the
 * process is shut in is the business of sandbox/. */
#ifndef JUDGE_RUN_RUN_H
#define JUDGE_RUN_RUN_H

#include "base/err.h"
#include "base/text.h"
#include "sandbox/sandbox.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct run_spec {
    const char *runner;  /* path of the runner program */
    const char *cudart;  /* path of the libcudart.so.13 to load: our device, or NVIDIA's */
    const char *library; /* the submission's .so */
    const char *entry;
    const char *meter;     /* libsj_meter.so, on a card; NULL = nothing counts allocations */
    const char *card;      /* UUID of the one card that the box may see; NULL = none */
    const char *libraries; /* of its driver, where they are not among the system's; NULL = there */
    const char *const *before; /* a tool that starts the runner, and its options; NULL = none */
    uint64_t start_limit_ns;   /* for loading */
    uint64_t memory_bytes;     /* 0 = no limit */
    uint64_t output_bytes;     /* stdout and stderr together */
};

enum run_how {
    RUN_REPLIED,   /* `reply` is filled (a claim) */
    RUN_EXITED,    /* ended before its work was done: `code` */
    RUN_SIGNALLED, /* `code` = signal */
    RUN_TIMED_OUT,
    RUN_OUTPUT_LIMIT,
    RUN_OUT_OF_MEMORY, /* of the host: the kernel ended it */
    RUN_GARBAGE,       /* sent something that is not a reply */
};

struct run_outcome {
    enum run_how how;
    int code;
    uint64_t wall_ns; /* our clock */
    uint64_t used_ns; /* what of it counts against limits: see box_used() in run.c */
    struct wire_reply reply;
};

struct run_box {
    struct sandbox_box sandbox;
    int socket_fd;
    bool alive;
    bool has_tool;
    bool on_card; /* what it waits for is the card, however busy the processors are */
    uint64_t start_ns, start_limit_ns; /* of loading */
    uint64_t output_bytes;
    struct text out, errors; /* what it printed so far, capped */
};

/* Starts the runner and waits for WIRE_READY. 0 and outcome->how tells (WIRE_LOAD_FAILED is a reply
 * too); -1 if the box could not be started. Always pair with run_close. */
int run_open(const struct run_spec *spec, struct run_box *box, struct run_outcome *outcome,
             struct err *e);

/* run_open() in two steps, so that several boxes load side by side: every run_begin() that gave 0
 * is followed by run_loaded(), from the same thread. */
int run_begin(const struct run_spec *spec, struct run_box *box, struct err *e);
int run_loaded(struct run_box *box, struct run_outcome *outcome, struct err *e);

/* Begins to start a box for a program with or without a card, whichever that will be, while
 * something else is waited for. `libraries` as in struct run_spec. */
void run_start_ahead(bool on_card, const char *libraries);

/* One request. fds[0] the inputs (read-only for the box), fds[1] the outputs. Every reply has been
 * validated: strings end and are printable UTF-8, enums and counts are in range. `alive` is false
 * afterwards unless the status is WIRE_DONE, WIRE_BAD_REQUEST, or WIRE_CUDA_ERROR of a device that
 * forgets (holds_nothing). -1 only if the box was dead. `limit_ns` is wall time, or processor time
 * for a box that computes on a busy machine without a card (see run.c). */
int run_pass(struct run_box *box, const struct wire_request *request, const int fds[2],
             uint64_t limit_ns, struct run_outcome *outcome, struct err *e);

void run_close(struct run_box *box);

/* The same for a box with a tool in front: lets both end by themselves, at most so long, because a
 * tool writes its report at the end. */
void run_close_slowly(struct run_box *box, uint64_t limit_ns);

/* ---- memory that crosses the seam ---- */

struct run_region {
    int fd;
    uint8_t *bytes; /* our mapping */
    uint64_t size;
};

/* A memfd of at least `size` bytes, zeroed, its pages allocated: make large ones early, and use
 * them for several passes (a request may use less than the whole). `box_may_write` false: sealed so
 * that only this mapping can change it. */
int run_region_init(struct run_region *r, uint64_t size, bool box_may_write, struct err *e);
void run_region_release(struct run_region *r);

#endif
