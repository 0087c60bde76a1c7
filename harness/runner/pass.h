/* pass: one request of the judge, carried out.
 *
 * Owns the device buffers of the last pass until the next one has its own, so that no address is
 * used twice in a row. */
#ifndef RUNNER_PASS_H
#define RUNNER_PASS_H

#include "runner/call.h"
#include "runner/crash.h"
#include "runner/device.h"
#include "wire/wire.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A memfd as this process sees it. Mapping pages costs as much as copying them, so a mapping is
 * kept for the next pass, which often brings the same memfd. */
struct region {
    dev_t device;
    ino_t inode;
    uint8_t *bytes; /* NULL = none */
    uint64_t size;
};

struct pass_state {
    struct device *device;
    call_entry entry;
    void *buffers[WIRE_PARAMS_MAX]; /* of the last pass */
    unsigned buffer_count;
    struct crash_buffer named[WIRE_PARAMS_MAX];
    struct region inputs, outputs;
    uint8_t *chunk; /* poison on its way to the device */
};

void pass_init(struct pass_state *s, struct device *device, call_entry entry);

/* Maps what came with a request and checks that everything lies inside. -1: it is not ours. */
int pass_accept(struct pass_state *s, const struct wire_request *request, const int fds[2],
                struct err *e);

/* Where the payload begins in the whole buffer. */
static inline uint64_t pass_payload_offset(const struct wire_param *p)
{
    return (uint64_t)WIRE_GUARD_BYTES + p->misalign;
}

/* Fills `reply`. fds are the two memfds of the request; the caller closes them. */
void pass_run(struct pass_state *s, const struct wire_request *request, const int fds[2],
              struct wire_reply *reply);

#endif
