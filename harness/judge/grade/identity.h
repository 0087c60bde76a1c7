/* identity: what a verdict depends on, as hashes: the judge, the problem, and all of it together. A
 * judging is known by its key: who hands in the same file for the same problem gets the same
 * result, and whatever changes any of this has everything judged again that it concerns. */
#ifndef JUDGE_GRADE_IDENTITY_H
#define JUDGE_GRADE_IDENTITY_H

#include "base/hash.h"
#include "judge/judge.h"

/* The programs that judge: this one, the runner and the device. -1: one cannot be read. */
int identity_of_judge(const struct judge_paths *paths, char hex[HASH_HEX_BYTES], struct err *e);

/* Every file in problems/<id>/ and reference/<id>/, with its name. */
int identity_of_problem(const struct judge_paths *paths, const char *id, char hex[HASH_HEX_BYTES],
                        struct err *e);

struct identity_parts {
    const char *content, *problem_id, *problem, *judge;
    const char *how; /* the device and the options that a verdict depends on, as text */
};

void identity_key(const struct identity_parts *parts, char hex[HASH_HEX_BYTES]);

#endif
