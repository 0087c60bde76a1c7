/* grade: a whole class: what was handed in (plan.h), against what is judged already (store.h), by
 * judgings side by side (workers.h), until nothing is left to judge: what arrives meanwhile is
 * taken along. Prints nothing; what came of it is a plain record (judge/report/sheet.h). */
#ifndef JUDGE_GRADE_GRADE_H
#define JUDGE_GRADE_GRADE_H

#include "judge/grade/plan.h"
#include "judge/grade/store.h"
#include "judge/judge.h"
#include "judge/report/sheet.h"

struct grade_call {
    const char *from;    /* folder or manifest */
    const char *results; /* folder of the store */
    const char *only; /* a file with keys, one a line: nothing else is judged; NULL = everything */
    const struct judge_paths *paths;
    const struct judge_options *options; /* its seed: of all judgings; 0 = each has its own */
    unsigned workers;
    bool waiting;                    /* for whoever has the results folder */
    void (*in_child)(void *context); /* in every new process; may be NULL */
    /* In a second or two again; `seconds_left` 0 = not known yet. */
    void (*progress)(void *context, unsigned done, unsigned total, unsigned seconds_left);
    void *context;
};

struct grade {
    struct grade_call call;
    struct store store;
    struct plan plan; /* as of the last look */
    const char **ids; /* of all problems */
    char judge[HASH_HEX_BYTES];
    const char *how;
    unsigned judged, gathered; /* records that this call added: by judging, out of parts */
    const char **only;         /* sorted */
    unsigned only_count;
    struct text notes; /* sentences, a line each: what was found broken */
    struct arena arena;
};

enum grade_status {
    GRADE_DONE = 0,
    GRADE_WRONG = 2,  /* the call, a manifest or a problem's spec */
    GRADE_FAILED = 3, /* of ours: nothing can be written, no process can be started */
};

/* Takes the results folder, gathers what tasks left in it, and looks what was handed in. Whatever
 * is returned: grade_close() is due. */
enum grade_status grade_open(const struct grade_call *call, struct grade *g, struct err *e);
void grade_close(struct grade *g);

/* What has no verdict yet, each content once: indices into plan.items. */
unsigned grade_missing(const struct grade *g, struct arena *arena, unsigned **indices);

/* Judges what is missing, looks again, and so on. */
enum grade_status grade_judge(struct grade *g, struct err *e);

/* Looks again what was handed in. */
enum grade_status grade_look(struct grade *g, struct err *e);

/* A row per file that was handed in (of those of `only`). Strings live as long as `g`. */
void grade_sheet(struct grade *g, struct sheet *sheet);

/* The whole result of one row, as JSON, under the names that this copy was handed in with: whoever
 * handed in the same before is not named. NULL: it has none, or `e` says why. */
json_t *grade_result(const struct grade *g, const struct sheet_row *row, struct err *e);

#endif
