/* The contract with whoever calls the judge: its exit statuses (0 accepted, 1 not accepted, 2 the
 * call or the spec is wrong, 3 the judge failed), that a wrong spec is reported with its place, and
 * that a failing case's `reproduce` command shows the same failure again. */
#include "e2e.h"

#include "base/arena.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOOD    "reference/multi-block-scan/three_kernels.cu"
#define STARTER "problems/multi-block-scan/starter.cu"

/* ---- exit statuses ---- */

static const struct call_row {
    const char *what;
    int status;
    const char *argv[8];
    const char *says; /* words on stdout or stderr */
} CALLS[] = {
    {"accepted is 0", 0, {"run", "multi-block-scan", GOOD}, "accepted"},
    {"wrong answer is 1", 1, {"run", "multi-block-scan", STARTER}, "wrong answer"},
    {"one case, accepted", 0, {"run", "multi-block-scan", GOOD, "--case", "empty"}, "accepted"},
    {"no command", 2, {NULL}, "begin:"},
    {"an unknown command", 2, {"rum"}, "run"},
    {"run without a file", 2, {"run", "multi-block-scan"}, "run"},
    {"an unknown problem", 2, {"run", "multi-block-scam", GOOD}, "multi-block-scan"},
    {"a file that is not there", 2, {"run", "multi-block-scan", "nowhere.cu"}, "nowhere.cu"},
    {"a folder for a file", 2, {"run", "multi-block-scan", "submissions"}, "submissions"},
    {"an unknown case", 2, {"run", "multi-block-scan", GOOD, "--case", "n=3.5"}, "n=3.5"},
    {"an unknown option", 2, {"run", "multi-block-scan", GOOD, "--sede", "1"}, "--sede"},
    {"an option without its value", 2, {"run", "multi-block-scan", GOOD, "--seed"}, "--seed"},
    {"a seed that is no number", 2, {"run", "multi-block-scan", GOOD, "--seed", "x"}, "seed"},
    {"an unknown format", 2, {"run", "multi-block-scan", GOOD, "--format", "xml"}, "json"},
    {"exec without a program", 2, {"exec"}, "exec"},
    {"list", 0, {"list"}, "ordered-compaction"},
    {"show", 0, {"show", "moe-counts-offsets"}, "topk_ids"},
    {"show of an unknown problem", 2, {"show", "moe"}, "moe"},
};

static bool mentions(const struct e2e_run *run, const char *words)
{
    return strcasestr(text_str(&run->out), words) || strcasestr(text_str(&run->errors), words);
}

static void check_call(const char *what, const struct e2e_call *call, int status, const char *says)
{
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(call, &run);
    if (run.status != status)
        text_addf(&why, "exit status %d (%s), expected %d\n", run.status, run.how, status);
    if (!mentions(&run, says))
        text_addf(&why, "nothing says '%s'\n", says);
    if (why.length)
        text_addf(&why, "stdout: %.500s\nstderr: %.500s", text_str(&run.out),
                  text_str(&run.errors));
    e2e_check(what, text_str(&why));
    e2e_run_release(&run);
    text_release(&why);
}

static void check_statuses(void)
{
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
        check_call(CALLS[i].what, &(struct e2e_call){.argv = CALLS[i].argv}, CALLS[i].status,
                   CALLS[i].says);
    /* A cache that cannot be written is the machine's fault, not the student's. */
    const char *argv[] = {"run", "multi-block-scan", GOOD, NULL};
    check_call("a cache that cannot be written is 3",
               &(struct e2e_call){.argv = argv, .cache = "/dev/null/cache"}, 3, "/dev/null/cache");
}

/* A file of one's own, judged as a whole; one that comes with the judge is not one's own, and a
 * later failure does not undo it. */
static void check_progress(struct arena *a)
{
    char folder[256];
    struct err e;
    const char *copy;
    const char *state = arena_printf(a, "%s/problems/multi-block-scan", e2e_paths.state);
    (void)remove(state);
    if (file_make_temp_dir(folder, sizeof folder, "scanjudge-e2e", &e) != 0)
        BUG("%s", e.text);
    copy = arena_printf(a, "%s/mine.cu", folder);
    const char *list[] = {"list", "--lang", "en", NULL};
    const struct {
        const char *what, *file, *says;
    } steps[] = {
        {"what comes along solves nothing", GOOD, " multi-block-scan "},
        {"a failure is a try", STARTER, "multi-block-scan "},
        {"an accepted file is remembered", GOOD, "solved  multi-block-scan"},
        {"and stays so", STARTER, "solved  multi-block-scan"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const char *from = arena_printf(a, "%s/%s", e2e_paths.root, steps[i].file);
        if (i > 0 && file_copy(from, copy, &e) != 0)
            BUG("%s", e.text);
        const char *run[] = {"run", "multi-block-scan", i > 0 ? copy : from, NULL};
        struct e2e_run judged;
        e2e_run(&(struct e2e_call){.argv = run}, &judged);
        e2e_run_release(&judged);
        bool there = access(state, F_OK) == 0;
        e2e_check(steps[i].what, there == (i > 0) ? NULL : "the file of its state says otherwise");
        check_call(steps[i].what, &(struct e2e_call){.argv = list}, 0, steps[i].says);
    }
    (void)remove(state);
    if (file_remove_tree(folder, &e) != 0)
        BUG("%s", e.text);
}

/* ---- malformed specs ---- */

/* The spec of multi-block-scan with one change. */
static const struct spec_row {
    const char *what, *from, *to, *says;
} SPECS[] = {
    {"unchanged", "", "", "accepted"},
    {"an unknown key", "entry:", "entri: exclusive_scan\nentry:", "entri"},
    {"a missing key", "entry: exclusive_scan\n", "", "entry"},
    {"a key twice", "difficulty:", "entry: again\ndifficulty:", "entry"},
    {"an unknown type", "type: int32*", "type: int31*", "int31"},
    {"an unknown variable", "shape: [n]", "shape: [m]", "m"},
    {"an anchor", "entry: ", "entry: &anchor ", "anchor"},
    {"a tag", "entry: ", "entry: !!str ", "tag"},
    {"no YAML at all", "entry: ", "entry: [", "problem.yaml"},
};

static void change_once(struct text *out, const char *source, const char *from, const char *to)
{
    const char *at = strstr(source, from);
    if (!at)
        BUG("the spec of multi-block-scan has no '%s' to change", from);
    text_addn(out, source, (size_t)(at - source));
    text_add(out, to);
    text_add(out, at + strlen(from));
}

/* Is there "problem.yaml:<line>:<column>:"? */
static bool names_place(const char *s)
{
    unsigned line, column;
    char colon;
    const char *at = strstr(s, "problem.yaml:");
    return at && sscanf(at, "problem.yaml:%u:%u%c", &line, &column, &colon) == 3 && line &&
           column && colon == ':';
}

/* In the folder `root`: problems/changed with the changed spec, and the reference beside it. */
static int write_problem(const char *root, const char *spec, size_t length, struct arena *a,
                         struct err *e)
{
    const char *problem = arena_printf(a, "%s/problems/changed", root);
    const char *reference = arena_printf(a, "%s/reference/changed", root);
    const char *linked = arena_printf(a, "%s/reference/multi-block-scan", e2e_paths.root);
    if (file_make_dirs(problem, e) != 0 ||
        file_make_dirs(arena_printf(a, "%s/reference", root), e) != 0)
        return -1;
    if (access(reference, F_OK) != 0 && symlink(linked, reference) != 0)
        return err_set_errno(e, "cannot link %s", reference);
    return file_write(arena_printf(a, "%s/problem.yaml", problem), spec, length, e);
}

static void check_spec(const struct spec_row *row, const char *root, const char *source,
                       struct arena *a)
{
    const char *argv[] = {"run", "changed", GOOD, "--case", "empty", NULL};
    bool good = !row->from[0];
    struct text spec, why;
    struct e2e_run run;
    struct err e;
    text_init(&spec);
    text_init(&why);
    change_once(&spec, source, row->from, row->to);
    if (write_problem(root, text_str(&spec), spec.length, a, &e) != 0)
        BUG("%s", e.text);
    e2e_run(&(struct e2e_call){.argv = argv, .root = root}, &run);
    if (run.status != (good ? 0 : 2))
        text_addf(&why, "exit status %d (%s)\n", run.status, run.how);
    if (!mentions(&run, row->says))
        text_addf(&why, "nothing says '%s'\n", row->says);
    if (!good && !names_place(text_str(&run.errors)))
        text_add(&why, "no problem.yaml:line:column: in the message\n");
    if (why.length)
        text_addf(&why, "stdout: %.500s\nstderr: %.500s", text_str(&run.out),
                  text_str(&run.errors));
    e2e_check(arena_printf(a, "spec: %s", row->what), text_str(&why));
    e2e_run_release(&run);
    text_release(&why);
    text_release(&spec);
}

static void check_specs(struct arena *a)
{
    char root[256];
    struct text source;
    struct err e;
    text_init(&source);
    const char *path = arena_printf(a, "%s/problems/multi-block-scan/problem.yaml", e2e_paths.root);
    if (file_read(path, 1 << 20, &source, &e) != 0 ||
        file_make_temp_dir(root, sizeof root, "scanjudge-e2e", &e) != 0)
        BUG("%s", e.text);
    for (size_t i = 0; i < sizeof SPECS / sizeof SPECS[0]; i++)
        check_spec(&SPECS[i], root, text_str(&source), a);
    if (file_remove_tree(root, &e) != 0)
        BUG("%s", e.text);
    text_release(&source);
}

/* ---- reproduce ---- */

/* One that is wrong in its data, two whose answer depends on the schedule, two with findings, and
 * those cases of one that only the search over seeds finds. */
static const struct failing {
    const char *problem, *file;
    const char *schedules; /* NULL: no search */
} FAILING[] = {
    {"ordered-compaction", "submissions/ordered-compaction/wrong_answer/count_from_exclusive.cu",
     NULL},
    {"ordered-compaction", "submissions/ordered-compaction/wrong_answer/unordered.cu", NULL},
    {"ordered-compaction", "submissions/ordered-compaction/wrong_answer/mask_of_active_lanes.cu",
     NULL},
    {"ordered-compaction", "submissions/ordered-compaction/wrong_answer/mask_of_active_lanes.cu",
     "50"},
    {"ordered-compaction", "submissions/ordered-compaction/run_time_error/tail_read.cu", NULL},
    {"moe-counts-offsets", "submissions/moe-counts-offsets/wrong_answer/uint16_overflow.cu", NULL},
    {"moe-counts-offsets",
     "submissions/moe-counts-offsets/time_limit_exceeded/lock_not_released.cu", NULL},
};
enum { REPRODUCED_PER_FILE = 3 };

static const json_t *only_case(const json_t *result)
{
    const json_t *cases = json_object_get(result, "cases");
    return json_array_size(cases) == 1 ? json_array_get(cases, 0) : NULL;
}

static bool is_of_search(const json_t *failed)
{
    const json_t *pass = json_object_get(failed, "failing_pass");
    return json_is_true(json_object_get(pass, "found_by_search"));
}

/* What must be the same the second time. Findings: the first of them, without its count. */
static void compare_cases(const json_t *first, const json_t *again, struct text *why)
{
    static const char *const KEYS[] = {"name",      "verdict",          "mismatch",
                                       "diagnosis", "failing_schedule", "failing_pass"};
    static const char *const OF_FINDING[] = {"kind", "line", "block", "thread"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        json_t *a = json_object_get(first, KEYS[i]), *b = json_object_get(again, KEYS[i]);
        if (is_of_search(first) && strcmp(KEYS[i], "diagnosis") == 0)
            continue; /* only the first few failures are explained, and others may precede it */
        if (!a != !b || (a && !json_equal(a, b)))
            text_addf(why, "%s is another one\n", KEYS[i]);
    }
    const json_t *a = json_array_get(json_object_get(first, "findings"), 0);
    const json_t *b = json_array_get(json_object_get(again, "findings"), 0);
    for (size_t i = 0; i < sizeof OF_FINDING / sizeof OF_FINDING[0]; i++)
        if (a &&
            !json_equal(json_object_get(a, OF_FINDING[i]), json_object_get(b, OF_FINDING[i])) &&
            (json_object_get(a, OF_FINDING[i]) || json_object_get(b, OF_FINDING[i])))
            text_addf(why, "%s of the first finding is another one\n", OF_FINDING[i]);
}

static void reproduce_case(const json_t *failed, const char *file, struct arena *a)
{
    const char *command = e2e_string(failed, "reproduce");
    struct text why;
    struct e2e_run run;
    text_init(&why);
    e2e_run(&(struct e2e_call){.shell = arena_printf(a, "%s --format json", command)}, &run);
    const json_t *again = only_case(run.json);
    if (run.status != 1)
        text_addf(&why, "exit status %d (%s)\n", run.status, run.how);
    if (!again)
        text_add(&why, "not a result with one case\n");
    else
        compare_cases(failed, again, &why);
    if (why.length) {
        char *dump = json_dumps(failed, JSON_COMPACT);
        text_addf(&why, "command: %s\nfirst: %.1500s\nthen: %.1500s\nstderr: %.300s", command,
                  dump ? dump : "", text_str(&run.out), text_str(&run.errors));
        free(dump);
    }
    e2e_check(arena_printf(a, "%s, case %s: the reproduce command reproduces it",
                           file_base_name(file), e2e_string(failed, "name")),
              text_str(&why));
    e2e_run_release(&run);
    text_release(&why);
}

/* The first few failing cases of one file, each again by its own command. */
static void reproduce_file(const struct failing *f, struct arena *a)
{
    const char *file = f->file;
    const char *argv[] = {"run", f->problem, file, "--format", "json", NULL, NULL, NULL};
    struct e2e_run run;
    int left = REPRODUCED_PER_FILE;
    if (f->schedules) {
        argv[5] = "--schedules";
        argv[6] = f->schedules;
    }
    e2e_run(&(struct e2e_call){.argv = argv}, &run);
    const json_t *cases = json_object_get(run.json, "cases");
    const char *verdict = e2e_string(run.json, "verdict");
    bool as_labelled = verdict[0] && strstr(file, verdict); /* its folder's name */
    e2e_check(arena_printf(a, "%s gets its verdict", file),
              as_labelled ? NULL
                          : arena_printf(a, "it gets '%s', exit status %d (%s)", verdict,
                                         run.status, run.how));
    for (size_t i = 0; left > 0 && i < json_array_size(cases); i++) {
        const json_t *failed = json_array_get(cases, i);
        if (!e2e_string(failed, "reproduce")[0] || (f->schedules && !is_of_search(failed)))
            continue;
        reproduce_case(failed, file, a);
        left--;
    }
    if (left == REPRODUCED_PER_FILE)
        e2e_check(arena_printf(a, "%s fails in some case", file), "none to try again");
    e2e_run_release(&run);
}

int main(void)
{
    struct arena arena;
    e2e_need_nvcc();
    arena_init(&arena);
    check_statuses();
    check_progress(&arena);
    check_specs(&arena);
    for (size_t i = 0; i < sizeof FAILING / sizeof FAILING[0]; i++)
        reproduce_file(&FAILING[i], &arena);
    arena_release(&arena);
    return e2e_done();
}
