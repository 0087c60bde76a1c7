/* cases: what a file of the fault table says about each of its kernels.
 *
 *   // case tail_unguarded: out_of_bounds_write   begins a case; `clean` in a right one
 *   // also: uninitialized_read deadlock          what the same fault may entail (optional)
 *   // schedules: last-first                      found in these alone, nothing in others
 * (optional)
 *   // in some schedules                          each sweep over all of them finds it (optional)
 *   // a warning                                  its severity is that (optional)
 *   // says: which has 64 bytes                   words of the message (optional)
 *   // no line                                    the finding names none: a call of the host
 *   // pending: why                               known not to work yet (optional)
 *   // gpu: any - why                             how it ends on a card (optional)
 *   x[i] = 0; // <-- out_of_bounds_write          a line that the finding may name
 *
 * A case reaches to the next one. Before the first one:
 *
 *   // target: 80                                 the compute capability to compile for (optional)
 */
#ifndef FAULTS_CASES_H
#define FAULTS_CASES_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum schedule {
#define SCHEDULE(identifier, name, text) identifier,
#include "wire/schedules.def"
#undef SCHEDULE
    SCHEDULES
};
extern const char *const schedule_names[SCHEDULES];

enum { CASE_LINES_MAX = 8 };

struct fault_case {
    const char *name;
    const char *kind;    /* NULL = clean */
    const char *also;    /* kinds, NULL = none */
    const char *says;    /* NULL = anything */
    const char *pending; /* NULL = must work */
    bool schedules[SCHEDULES];
    bool no_line, some, warning;
    unsigned lines[CASE_LINES_MAX];
    size_t line_count;
};

struct case_file {
    const char *target; /* NULL = the default */
    struct fault_case *cases;
    size_t count;
};

/* -1: unreadable, a word that is none of the above, a mark of another kind than the case's, a
 * faulty case without a mark, no case at all. */
int cases_read(const char *path, struct arena *arena, struct case_file *file, struct err *e);

/* Is `word` one of the blank-separated words of `list` (may be NULL)? */
bool has_word(const char *list, const char *word, size_t length);

#endif
