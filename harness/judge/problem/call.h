/* call: `name(argument, argument)`, the form that generators, checks and ranges share. */
#ifndef JUDGE_PROBLEM_CALL_H
#define JUDGE_PROBLEM_CALL_H

#include "base/arena.h"

#include <stddef.h>

enum { CALL_ARGS_MAX = 4 };

struct call {
    const char *name;
    const char *args[CALL_ARGS_MAX]; /* blanks around them removed */
    size_t offsets[CALL_ARGS_MAX];   /* where each starts in the text */
    unsigned arg_count;
};

/* A bare name is a call without arguments. NULL, or what is wrong ("an unclosed parenthesis"). */
const char *call_parse(const char *text, struct arena *arena, struct call *call);

#endif
