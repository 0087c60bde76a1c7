/* crash: what the runner still says when the submission's host code takes the process down. */
#ifndef RUNNER_CRASH_H
#define RUNNER_CRASH_H

#include "wire/wire.h"

#include <stdint.h>

/* On a real GPU nothing explains a device address: but the runner knows its own buffers. */
struct crash_buffer {
    const uint8_t *start;
    uint64_t bytes;
    const char *name;
};

/* What the entry is given from now on; kept by reference. */
void crash_name_buffers(const struct crash_buffer *buffers, unsigned count);

/* Catches SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT on a stack of their own: sends WIRE_CRASHED
 * with the findings so far and ends the process. Called again before each pass, because the
 * submission may have put handlers of its own in place. */
void crash_catch(const struct wire_device_hooks *hooks, int socket_fd);

#endif
