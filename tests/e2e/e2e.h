/* e2e: what the end-to-end tests share. They start the built judge as people do, and read what it
 * prints; nothing of the judge is linked in.
 *
 * Output is TAP-like: "ok 3 - what", "not ok 4 - what" followed by "# why" lines, "1..4" at the
 * end. Checks may come from several threads. */
#ifndef E2E_E2E_H
#define E2E_E2E_H

#include "base/proc.h"
#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>

enum {
    E2E_SKIPPED = 77 /* CTest's SKIP_RETURN_CODE */,
    E2E_ARGUMENTS_MAX = 16,
    E2E_BEFORE_MAX = 12
};

struct e2e_paths {
    const char *root;  /* of the sources: the folder with problems/, reference/, submissions/ */
    const char *judge; /* the built program */
    const char *cache; /* compiled submissions of these tests, below the build folder */
    const char *state; /* what the judge remembers of those who were judged here; the same */
};
extern const struct e2e_paths e2e_paths;

/* Ends the program with E2E_SKIPPED and a printed reason if there is no nvcc. */
void e2e_need_nvcc(void);

/* One line of output; `why` (may be NULL or "") says what is wrong. Returns whether it was right.
 */
bool e2e_check(const char *what, const char *why);
/* The plan line; the exit status for main(): 1 if a check failed, or if there was none. */
int e2e_done(void);

struct e2e_run {
    int status; /* exit status; -1 = did not end by itself, `how` says */
    const char *how;
    double seconds;
    struct text out, errors;
    json_t *json; /* stdout parsed, NULL if it is no JSON object */
};

/* Extra environment of one call; NULL members keep the default. */
struct e2e_call {
    const char *const *argv; /* after the program: "run", "multi-block-scan" ..., NULL-terminated */
    const char *root, *cache;
    const char *shell;         /* a command line for sh instead of argv */
    const char *const *before; /* words in front of the judge, NULL-terminated: who runs it */
    unsigned minutes;          /* waited at most; 0 = five */
};

/* Runs the judge in the source folder and waits. The caller releases `run`. */
void e2e_run(const struct e2e_call *call, struct e2e_run *run);
void e2e_run_release(struct e2e_run *run);

/* The string behind `key`, "" if there is none. */
const char *e2e_string(const json_t *object, const char *key);

/* Calls `job(context, i)` for all i < count, from two threads: nvcc is what these tests wait for.
 */
void e2e_for_each(size_t count, void (*job)(void *context, size_t i), void *context);

#endif
