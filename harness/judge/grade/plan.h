/* plan: what was handed in: the submissions below a folder, or those that a manifest names.
 *
 *   DIR/<student>/<problem>.cu      one submission
 *   DIR/<student>/<problem>/<*>.cu  attempts at one problem; the best one counts
 *   FILE.jsonl                      {"student": "...", "problem": "...", "file": "..."} on each
 * line, `file` as seen from the manifest's folder
 *
 * The names and the files are those of students. So nothing below a student's folder is followed if
 * it is a link: it could lead to somebody else's work, or into our own files. Names that begin with
 * '.' are nobody's, other files than *.cu are not looked at, and what looks like a submission but
 * is none is told with a reason instead of being left out silently. */
#ifndef JUDGE_GRADE_PLAN_H
#define JUDGE_GRADE_PLAN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

struct handed_in {
    const char *student, *problem;
    const char *shown; /* for people: from DIR on, or as the manifest has it */
    const char *path;  /* to open it */
    char content[HASH_HEX_BYTES];
    char key[HASH_HEX_BYTES]; /* of whoever made the plan's caller; "" at first */
};

struct left_out {
    const char *shown, *why;
};

struct plan {
    struct handed_in *items; /* in the order of students, problems and files */
    unsigned count, capacity;
    struct left_out *left_out;
    unsigned left_out_count, left_out_capacity;
};

/* `from`: the folder or the manifest. `ids`: the problems there are, NULL-terminated. -1: it cannot
 * be read, or a line of the manifest is none; the sentence says where. */
int plan_make(const char *from, const char *const *ids, struct arena *arena, struct plan *plan,
              struct err *e);

/* The hash of a file's content; a file that is too large to be compiled goes by its beginning and
 * its size. -1: it cannot be read, or is no regular file. */
int plan_hash_content(const char *path, char hex[HASH_HEX_BYTES], struct err *e);

#endif
