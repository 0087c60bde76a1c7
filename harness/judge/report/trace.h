/* trace: a run as JSON lines, one per warp-wide access: TRACE.md describes them. */
#ifndef JUDGE_REPORT_TRACE_H
#define JUDGE_REPORT_TRACE_H

#include "base/text.h"
#include "wire/trace.h"

/* `source` names the program, for the first line. */
void report_trace(const struct wire_trace *trace, const char *source, struct text *out);

/* NULL if the trace is whole, else a sentence: what did not fit. */
const char *report_trace_lack(const struct wire_trace *trace, char *out, size_t out_bytes);

#endif
