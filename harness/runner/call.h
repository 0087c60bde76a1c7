/* call: the entry point, with whatever signature the problem declares. */
#ifndef RUNNER_CALL_H
#define RUNNER_CALL_H

#include "base/err.h"
#include "wire/wire.h"

typedef void (*call_entry)(void);

/* Calls `entry`, which returns nothing. pointers[i] is what a BUFFER or the STREAM passes. -1 if
 * there is no way to pass a parameter. */
int call(call_entry entry, const struct wire_param *params, unsigned count, void *const *pointers,
         struct err *e);

#endif
