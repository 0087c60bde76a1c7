/* validate: whether something that came out of a box is a reply at all.
 *
 * A reply is a claim. Afterwards it is safe to read: every enum and count is in range and every
 * string ends and is printable UTF-8 (what is not has become '?'). */
#ifndef JUDGE_RUN_VALIDATE_H
#define JUDGE_RUN_VALIDATE_H

#include "wire/wire.h"

#include <stdbool.h>

/* `loading`: the box was starting, so that only the answers to that are possible. */
bool validate_reply(struct wire_reply *reply, bool loading);

#endif
