/* sandbox: runs one program that we do not trust, and nothing of it gets out or stays behind.
 *
 * One call for the compiler, the reference, the submission and any checker: sandbox_run() for a
 * program that works and ends, sandbox_open() and sandbox_finish() for one that is talked to. The
 * caller says what the program may see and use; how it is shut in is this module's business:
 *
 *   namespaces   bubblewrap: mounts, processes, network and ipc of its own
 *   landlock     where namespaces are refused: files by Landlock, the rest by a stricter filter
 *   none         only on request: what is left of limits and filter
 *
 * On top of each: a seccomp deny-list, resource limits, a control group where there is one, an
 * empty environment, a user of its own where we are root. layers.def lists them, limits.def what is
 * limited. Which tier there is, is found out once per process, by trying it.
 *
 * In the box: the system's libraries (with SANDBOX_COMPILE also its compilers and headers), the
 * paths of `see`, /dev/null and its like, and with `folder_bytes` a private folder, which is its
 * working directory and where `files` lie. Nothing that it can write outlives it. Files that
 * have to come out are named in `takes`: read by us, within a budget of bytes.
 *
 * A failure of ours is -1 and a sentence (a judge_error); how the program ended is data.
 *
 * Threads: a box belongs to one thread at a time; everything else may be called from any. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/err.h"
#include "base/proc.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sandbox_tier { SANDBOX_NAMESPACES, SANDBOX_LANDLOCK, SANDBOX_NONE, SANDBOX_TIER_COUNT };

/* ---- which isolation; once per process ---- */

struct sandbox_choice {
    const char *tier; /* "auto" (or NULL); "namespaces", "landlock", "none": that one or an error */
    bool require; /* --require-isolation: every layer of layers.def that is wanted, or an error */
    bool allow_none; /* --allow-unsandboxed: go on where neither tier is to be had */
};

/* Remembers the choice; before the first box. Without a call: auto, nothing required, none not
 * allowed. -1 if there is no tier of that name. */
int sandbox_choose(const struct sandbox_choice *choice, struct err *e);

/* Does what was chosen fit together? -1 and a sentence if no machine could keep to it: none without
 * leave, or everything required and a part left out. */
int sandbox_check_choice(struct err *e);

/* Finds out what this machine allows, once; 0, or -1 with what is missing and which option goes on
 * without. sandbox_open() calls it, too. */
int sandbox_setup(struct err *e);

/* One row of layers.def, as found. */
struct sandbox_layer {
    const char *key;    /* "namespaces", "seccomp", "memory", ... */
    const char *wanted; /* "bubblewrap" */
    const char *why;
    char got[128]; /* "bubblewrap 0.8.0", "cgroup v1", "RLIMIT_DATA"; why not, if it is not there */
    bool in_use;   /* boxes of this process have it */
    bool weaker;   /* in use, by a substitute that holds less than what is wanted */
};

struct sandbox_isolation {
    enum sandbox_tier tier;
    const char *name; /* of the tier */
    const struct sandbox_layer *layers;
    unsigned layer_count;
};

/* NULL before sandbox_setup() was successful. */
const struct sandbox_isolation *sandbox_isolation(void);

/* ---- what runs, and what it may see and use ---- */

enum sandbox_profile {
    SANDBOX_PROGRAM, /* the system's libraries, nothing else */
    SANDBOX_COMPILE, /* also the system's programs and headers */
    SANDBOX_CARD,    /* as PROGRAM, and NVIDIA's devices */
    SANDBOX_TOOL,    /* not shut in, only limited: what traces processes and writes reports */
};

struct sandbox_file { /* in the private folder, when the program starts */
    const char *name; /* no '/' */
    const void *bytes;
    size_t count;
};

struct sandbox_take { /* out of the private folder, when the program has ended */
    const char *name;
    uint64_t most_bytes;
    struct text *to; /* what was there; cleared first */
    bool found;      /* set: a regular file, and not larger than most_bytes */
};

/* 0 = not limited, except for descriptors and processes, which then get a usual number. */
struct sandbox_limits {
#define LIMIT(field, resource, unit, usual, why) uint64_t field;
#include "sandbox/limits.def"
#undef LIMIT
};

enum {
    SANDBOX_PARTS_MAX = 8,
    SANDBOX_FILES_MAX = 128,
    SANDBOX_SOCKET_FD = 3,
    SANDBOX_FOLDER_BYTES = 256
};

struct sandbox_spec {
    enum sandbox_profile profile;
    const char *program;            /* of the host; NULL: argv[0], which is visible in the box */
    const char *const *argv;        /* NULL-terminated */
    const char *const *environment; /* NULL-terminated "NAME=value"; NULL = empty */
    /* files and folders of the host, to read; NULL-terminated. Root's boxes have a user of their
     * own, for whom they must be readable. */
    const char *const *see;
    /* Files of the host that become read-only memory in the box, named SANDBOX_PART(i) there: also
     * those that the user of the box could not reach. */
    const char *const *parts; /* NULL-terminated */
    const struct sandbox_file *files;
    unsigned file_count;   /* at most SANDBOX_FILES_MAX */
    uint64_t folder_bytes; /* 0 = no private folder: `files` and `takes` need one */
    struct sandbox_limits limits;
    struct sandbox_take *takes; /* filled by sandbox_finish() */
    unsigned take_count;
    int socket_fd; /* descriptor SANDBOX_SOCKET_FD of the program; 0 or less = none */
};

/* The name of parts[i] in the box. */
#define SANDBOX_PART_FD 16
const char *sandbox_part(unsigned i);

/* ---- a program that works and ends ---- */

enum sandbox_how {
    SANDBOX_EXITED,    /* `code` = status */
    SANDBOX_SIGNALLED, /* `code` = signal */
    SANDBOX_TIMED_OUT,
    SANDBOX_OUTPUT_LIMIT,
};

struct sandbox_outcome {
    enum sandbox_how how;
    int code;
    bool out_of_memory; /* the kernel ended it for that */
    uint64_t wall_ns, processor_ns, peak_bytes;
    char folder[SANDBOX_FOLDER_BYTES]; /* the name of the private folder in the box; "" = none */
};

/* Runs it with nothing to read on stdin; what it prints is appended to `out` and `errors` (together
 * at most limits.output_bytes). The whole box is gone when this returns. */
int sandbox_run(const struct sandbox_spec *spec, struct text *out, struct text *errors,
                struct sandbox_outcome *outcome, struct err *e);

/* ---- a program that is talked to ---- */

struct sandbox_box {
    struct proc process; /* its pipes are the program's */
    int watch_fd;        /* readable: ask sandbox_is_over() */
    pid_t pid;           /* of the program, as we count; 0 until it has started */
    struct sandbox_inner *inner;
};

/* Starts it. 0: sandbox_finish() is due; -1: nothing runs. */
int sandbox_open(const struct sandbox_spec *spec, struct sandbox_box *box, struct err *e);

/* Whether the program has ended (or could not be started), and with it all that it started. Does
 * not wait. */
bool sandbox_is_over(struct sandbox_box *box);

/* Processor time of the program so far; 0 if it is not known. */
uint64_t sandbox_processor_ns(const struct sandbox_box *box);

/* Ends the program and all that it started, or waits for the last of it when it has ended by
 * itself; `outcome` (may be NULL) tells how the program ended, `wall_ns` from sandbox_open() on.
 * `takes` as for sandbox_run(), with what was asked for in `spec`. -1: it did not run for a reason
 * that is ours. Everything is released in any case, also for a box that is all zero. */
int sandbox_finish(struct sandbox_box *box, struct sandbox_outcome *outcome, struct err *e);

/* Starts what does not depend on the program, for the next sandbox_open() with the same profile,
 * `see` and `folder_bytes`, and returns at once: while something else is waited for, and before it
 * is known whether boxes can be had that way (if not, sandbox_open() starts another). */
void sandbox_prepare(const struct sandbox_spec *spec);

#endif
