/* crash: what the runner still says when the submission's host code takes the process down. */
#ifndef RUNNER_CRASH_H
#define RUNNER_CRASH_H

#include "wire/wire.h"

/* Catches SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT on a stack of their own: sends WIRE_CRASHED
 * with the findings so far and ends the process. Called again before each pass, because the
 * submission may have put handlers of its own in place. */
void crash_catch(const struct wire_device_hooks *hooks, int socket_fd);

#endif
