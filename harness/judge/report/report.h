/* report: results in the format that a reader wants; a row of formats.def per format.
 *
 * A hostile submission's output is escaped in each of them: no control character of a submission
 * reaches a terminal, and nothing that it prints means anything to the reader of a format. */
#ifndef JUDGE_REPORT_REPORT_H
#define JUDGE_REPORT_REPORT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "judge/report/result.h"

#include <stdbool.h>

struct report_options {
    bool colour;
    bool verbose; /* every case, also the accepted ones, with its counters */
    /* Where submissions are, for formats whose reader knows files by their place in a repository:
     * the folder that relative names start from and the root of the repository, both absolute.
     * NULL: names stay as they are. */
    const char *here, *root;
    unsigned points; /* what a submission is worth, in formats that give points; 0 = 1 per case */
};

/* Writes about `count` results, in their order. */
typedef void report_function(const struct result *const *results, unsigned count,
                             const struct report_options *options, struct text *out);

struct report_format {
    const char *name, *extension, *reader;
    bool takes_many; /* else `count` has to be 1: whoever has more writes a file for each */
    report_function *write;
};

/* The rows of formats.def; NULL past the last, or if there is no such format. */
const struct report_format *report_format_at(unsigned index);
const struct report_format *report_find(const char *name);
/* "text, json", for messages. */
const char *report_formats(void);

/* What the formats json and jsonl wrote, one object, as a result again; in `arena`. Profiles and
 * traces are not read. -1 with what is wrong about it, `name` being the
 * file's. */
int report_read(const char *name, const char *json, struct arena *arena, struct result *r,
                struct err *e);

/* The same of any number of objects, one after another, as jsonl writes them. */
int report_read_all(const char *name, const char *json, size_t bytes, struct arena *arena,
                    struct result **results, unsigned *count, struct err *e);

/* Adds `s` with control characters and invalid UTF-8 made visible (\x1b, \r ...); '\n' and '\t'
 * stay. */
void report_add_escaped(struct text *out, const char *s);

/* The same in one line: a file may be called "a.cu\naccepted". */
void report_add_name(struct text *out, const char *s);

/* Adds `s` so that a runner of GitHub Actions takes no command from it. */
void report_add_unheeded(struct text *out, const char *s);

/* All that the text tells of a case, from its name to the command that judges it again. */
void report_add_case(struct text *out, const struct report_options *o, const struct result_case *c);

#endif
