/* store: the results of a class, in a folder: results.jsonl, one line for each judging, only ever
 * added to, and on the disk before the next judging counts. So whoever is killed loses what was
 * being judged just then, and nothing else.
 *
 *   {"scanjudge_grade": 1, "secret": "64 hex digits"}                      the first line
 *   {"key": "...", "judged_at": "...", "file": "...", "reason": "...", "result": {...}}
 *
 * `result` is what `run --format json` prints. A key has one line, except that a judge_error is not
 * final: it is judged again the next time, and the last line counts. The secret gives each judging
 * its seed, so that a judging that is begun again sees the same data; nobody can work it out from
 * the seeds that reports show.
 *
 * The folder is held by a lock for as long as the store is open. Parts are stores in folders below
 * slurm/, each written by one task of a cluster with the same secret; they are gathered into the
 * whole. One thread. */
#ifndef JUDGE_GRADE_STORE_H
#define JUDGE_GRADE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "wire/wire.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct stored {
    char key[HASH_HEX_BYTES];
    enum verdict verdict;
    const char *file; /* as it was judged: of the first who handed it in */
    const char *reason, *judged_at, *card;
    uint64_t seed;
    double ms;
    unsigned passed, cases; /* of those that have a verdict, and of all */
    int64_t at;             /* where the line begins */
    size_t length;
};

struct store {
    const char *folder, *path;
    int fd, lock_fd;
    char secret[HASH_HEX_BYTES];
    struct stored *items;
    unsigned count, capacity;
    uint32_t *slots; /* hash table over items: number + 1, 0 = empty */
    unsigned slot_count;
    struct arena arena;
};

/* `waiting`: the lock is waited for; else it is an error that names who holds it. What is found
 * broken goes into `notes`, a sentence a line: a last line that was torn is cut off, others that
 * are no records are left alone. -1 with a sentence; then nothing is open. */
int store_open(const char *folder, bool waiting, struct store *s, struct text *notes,
               struct err *e);
void store_close(struct store *s);
/* For a forked child: its copies of the descriptors, with which it would hold the lock longer than
 * we do, are closed. */
void store_leave(const struct store *s);

/* The last record of this key; NULL if there is none. Valid until the next store_add(). */
const struct stored *store_find(const struct store *s, const char *key);
/* There is one, and it is not a judge_error. */
bool store_is_final(const struct store *s, const char *key);

/* Adds a record. `result`: a JSON object as text. */
int store_add(struct store *s, const char *key, const char *file, const char *reason,
              const char *result, struct err *e);
/* The object `result` of a record; the caller owns it. NULL with a sentence. */
json_t *store_read(const struct store *s, const struct stored *record, struct err *e);

/* The seed of this judging, 1 to 2^53 - 1. */
uint64_t store_seed(const struct store *s, const char *key);

/* ---- parts ---- */

/* Makes a store in `folder` with the secret of `s`, unless there is one. */
int store_make_part(const struct store *s, const char *folder, struct err *e);
/* Takes over what the part has and this one has not; `*count` says how many. A part that is not
 * there has nothing. */
int store_gather(struct store *s, const char *folder, unsigned *count, struct text *notes,
                 struct err *e);

#endif
