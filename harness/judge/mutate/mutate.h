/* mutate: a program -> the same program with one small fault, many times over.
 *
 * What a problem's cases are worth shows in how many of these faults they catch. A mutant is one or
 * two replacements in the text; where it is on lines of its own stays where it was. Whether it
 * compiles, and whether it changes anything at all, is for the caller to find out. Comments,
 * strings and preprocessor lines are left alone. */
#ifndef JUDGE_MUTATE_MUTATE_H
#define JUDGE_MUTATE_MUTATE_H

#include "base/arena.h"
#include "base/text.h"

#include <stddef.h>

struct edit {
    size_t from, to; /* bytes of the source that are replaced; equal: an insertion */
    const char *text;
};

enum { MUTANT_EDITS_MAX = 2 };

struct mutant {
    const char *mutation; /* a row of mutations.def */
    unsigned line;
    const char *before, *after; /* that line, and what it became, without blanks at both ends */
    struct edit edits[MUTANT_EDITS_MAX];
    unsigned edit_count;
};

struct mutants {
    struct mutant *items;
    size_t count;
};

/* Every mutant of a source, in its order. The text must outlive the list. */
void mutate_list(const char *source, size_t length, struct arena *arena, struct mutants *mutants);

/* Writes the mutated source. */
void mutate_apply(const char *source, size_t length, const struct mutant *m, struct text *out);

/* What a row of the table does to a program; NULL if there is none of that name. */
const char *mutation_for_people(const char *mutation);

#endif
