/* source: one attack, a .cu file whose first comment says what must come of it:
 *
 *   // expect: accepted or run_time_error   one of these verdicts
 *   // expect-finding: signal               a finding that some case must have
 *   // problem: bombs                       of root/problems; `scan` unless given
 *   // options: --seed 7                    more words for the judge
 *   // as: -o                               the file's name when it is handed in
 *   // says: not allow headers              words that the report must have
 *   // never: root:                         words that it must not have
 *   // judgings: 2                          how often it is judged, one after another
 *   // failing: near                        the name of each failing case begins so, and its
 *                                           reproduce command shows the same failure again
 *   // within: 12000                      milliseconds that a case may take, unless a limit's worth
 *   // others: accepted                     verdict of all cases but the one that failed
 *
 * attack.cuh goes in the place of its #include, and every file gets names of places that no
 * submission may see: ATTACK_ROOT, ATTACK_CACHE, ATTACK_FOLDER, ATTACK_SOCKET. */
#ifndef ATTACK_SOURCE_H
#define ATTACK_SOURCE_H

#include "judge/verify/label.h"

#include "base/arena.h"
#include "base/err.h"

struct places {
    const char *root;   /* of the problems that attacks are judged by */
    const char *cache;  /* of compiled submissions */
    const char *folder; /* of this test */
    const char *socket; /* abstract name where the test listens */
};

struct attack {
    const char *name; /* "deciding/exit_0" */
    const char *text; /* to be judged */
    struct label label;
    const char *problem, *as;
    const char *options, *says, *never, *failing, *others; /* NULL = not given */
    unsigned judgings;
    double case_ms_max;
};

/* -1: unreadable, or no verdict is expected. */
int source_read(const char *path, const struct places *places, struct arena *arena,
                struct attack *attack, struct err *e);

/* Is `word` one of "a or b or c"? */
int source_one_of(const char *alternatives, const char *word);

#endif
