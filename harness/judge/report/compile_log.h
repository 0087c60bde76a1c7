/* compile_log: the messages in what a compiler printed, one after another. It reads the author's
 * version of nvcc's output (judge/compile/diagnostics.h), which may hold anything: `#error` and
 * `#pragma message` print what a submission likes. */
#ifndef JUDGE_REPORT_COMPILE_LOG_H
#define JUDGE_REPORT_COMPILE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compile_message {
    bool is_error;    /* else a warning */
    bool in_source;   /* in the submission itself; else in a header, or nowhere in particular */
    uint32_t line;    /* 0 = unknown */
    uint32_t column;  /* the same */
    const char *text; /* points into the log: the line, from behind the place on ... */
    size_t length;    /* ... with what explains it on the lines below */
};

/* Steps *at, first the log itself, behind the next message and fills it; false at the end. `source`
 * is the base name of the submission. */
bool compile_log_next(const char **at, const char *source, struct compile_message *m);

#endif
