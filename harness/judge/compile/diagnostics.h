/* diagnostics: what nvcc printed -> what the author of the submission is to read.
 *
 * The compiler saw a wrapper that includes the submission, in a temporary folder. Neither is the
 * author's business: file names become the submission's own, messages that both compiler passes
 * print come once, and a complaint about the wrapper's declaration of the entry point becomes the
 * expected prototype and what to change. */
#ifndef JUDGE_COMPILE_DIAGNOSTICS_H
#define JUDGE_COMPILE_DIAGNOSTICS_H

#include "base/text.h"

#include <stddef.h>

struct diagnostics_context {
    const char *source;        /* base name of the submission */
    const char *compiled_name; /* the name it had for the compiler; often the same */
    const char *wrapper;       /* name of the wrapper file; NULL: none, the source was compiled */
    unsigned end_line;         /* line of the wrapper that follows the submission */
    unsigned declaration_line; /* line of the wrapper with the entry's declaration */
    const char *work_folder;   /* where the temporary files were */
    const char *target;        /* "75", or NULL */
    const char *prototype;     /* with the wrapper: what the entry has to look like */
};

/* Appends the author's version of `raw` to `out`. */
void diagnostics_rewrite(const struct diagnostics_context *c, const char *raw, struct text *out);

/* The message for an entry point that is not there; `is_cpp`: a C++ function of that name is. */
void diagnostics_missing_entry(const struct diagnostics_context *c, const char *entry, int is_cpp,
                               struct text *out);

/* Cuts whole lines out of the middle until `text` has about `bytes`, and says so there. */
void diagnostics_cut(struct text *text, size_t bytes);

#endif
