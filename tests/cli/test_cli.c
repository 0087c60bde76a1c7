/* The command line from the outside, as far as it needs no nvcc: exit statuses, and messages that
 * help. Each row is one call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/proc.h"

#include <stdio.h>
#include <string.h>

/* A file that is there; it is not compiled. */
#define LICENSE SOURCE_ROOT "/LICENSE"
/* Results that were kept. */
#define GOLDEN SOURCE_ROOT "/tests/golden/expected/"

enum { WORDS_MAX = 8 };

struct call {
    const char *words[WORDS_MAX]; /* after the program's name */
    int status;
    const char *out, *errors; /* must be part of stdout, stderr; NULL = must be empty */
};

static void try_call(const struct call *c, const char *root)
{
    const char *argv[WORDS_MAX + 2] = {JUDGE};
    for (int i = 0; i < WORDS_MAX && c->words[i]; i++)
        argv[i + 1] = c->words[i];
    char root_variable[4200], state[4200];
    snprintf(root_variable, sizeof root_variable, "SCANJUDGE_ROOT=%s", root);
    /* Nothing is remembered in the sources. */
    snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state",
             strcmp(root, SOURCE_ROOT) == 0 ? "/dev/null" : root);
    const char *environment[] = {root_variable, state, "SCANJUDGE_CACHE=/nonexistent/cache",
                                 "PATH=/usr/bin:/bin", NULL};
    struct proc_spec spec = {.argv = argv, .environment = environment, .keep_fd = -1};
    struct proc_end end;
    struct text out, errors;
    struct err e;
    text_init(&out);
    text_init(&errors);
    if (proc_run(&spec, 30000000000u, 1 << 20, &out, &errors, &end, &e) != 0)
        fail_msg("%s", e.text);
    if (end.how != PROC_EXITED || end.code != c->status)
        fail_msg("%s: status %d instead of %d: %s", c->words[0], end.code, c->status,
                 text_str(&errors));
    if (c->out ? !strstr(text_str(&out), c->out) : out.length != 0)
        fail_msg("%s: printed \"%s\"", c->words[0], text_str(&out));
    if (c->errors ? !strstr(text_str(&errors), c->errors) : errors.length != 0)
        fail_msg("%s: complained \"%s\"", c->words[0], text_str(&errors));
    text_release(&out);
    text_release(&errors);
}

static const struct call CALLS[] = {
    {{"help"}, 0, "judge one submission", NULL},
    {{"--help"}, 0, "exit status: 0 accepted", NULL},
    {{"help", "exec"}, 0, "has its own main", NULL},
    {{"version"}, 0, "scanjudge 0.", NULL},
    {{"--version"}, 0, "scanjudge 0.", NULL},
    {{0}, 2, "begin:  ./judge.sh new warp-scan ", NULL},
    {{"lsit"}, 2, NULL, "Did you mean 'list'?"},
    {{"help", "doktor"}, 2, NULL, "Did you mean 'doctor'?"},
    {{"\x1b[31m"}, 2, NULL, "'\\x1b[31m'"},
    {{"list"}, 0, "multi-block-scan", NULL},
    {{"list", "--lang", "zh"}, 0, "\xe5\x89\x8d\xe7\xbc\x80\xe5\x92\x8c", NULL},
    {{"list", "--lang", "fr"}, 2, NULL, "--lang takes en or zh"},
    {{"list", "x"}, 2, NULL, "takes no arguments"},
    {{"show", "multi-block-scan"}, 0, "extern \"C\" void exclusive_scan", NULL},
    {{"show", "multi-block-scna"}, 2, NULL, "Did you mean 'multi-block-scan'?"},
    {{"show"}, 2, NULL, "wants one problem"},
    {{"hint", "multi-block-scan"}, 0, "hint multi-block-scan 2", NULL},
    {{"hint", "multi-block-scan", "2"}, 0, "2/", NULL},
    {{"hint", "multi-block-scan", "99"}, 2, NULL, "and no number '99'"},
    {{"hint", "multi-block-scan", "1x"}, 2, NULL, "and no number '1x'"},
    {{"run"}, 2, NULL, "got 0 arguments"},
    {{"run", "multi-block-scan"}, 2, NULL, "got 1 argument."},
    {{"run", "multi-block-scan", "a.cu", "b.cu"}, 2, NULL, "got 3 arguments"},
    {{"run", "multi-block-scan", "/nonexistent.cu"}, 2, NULL, "cannot read /nonexistent.cu"},
    {{"run", "multi-block-scan", "/tmp"}, 2, NULL, "is a folder"},
    {{"run", "../etc", "a.cu"}, 2, NULL, "there is no problem '../etc'"},
    {{"run", "--sed", "3", "multi-block-scan", "a.cu"}, 2, NULL, "Did you mean --seed?"},
    {{"run", "multi-block-scan", "a.cu", "--seed"}, 2, NULL, "--seed wants a value"},
    {{"run", "multi-block-scan", "a.cu", "--seed", "0"}, 2, NULL, "from 1 to 2^53 - 1"},
    {{"run", "multi-block-scan", "a.cu", "--seed", "-4"}, 2, NULL, "from 1 to 2^53 - 1"},
    {{"run", "multi-block-scan", "a.cu", "--seed", "9007199254740992"}, 2, NULL, "2^53"},
    {{"run", "multi-block-scan", "a.cu", "--format", "xml"}, 2, NULL, "there are: text, json"},
    {{"run", "multi-block-scan", "a.cu", "--check", "none"},
     2,
     NULL,
     "There are: bounds, uninitialized, races,"},
    {{"run", "multi-block-scan", "a.cu", "--check", "races,"}, 2, NULL, "There are: bounds"},
    {{"run", "multi-block-scan", "a.cu", "--schedules", "0"}, 2, NULL, "from 1 to"},
    {{"run", "multi-block-scan", "a.cu", "--schedule", "interleaved:x"},
     2,
     NULL,
     "There are: in-order"},
    {{"exec", "--stream-order", "never", "a.cu"}, 2, NULL, "eager, late, random"},
    {{"exec", "--target", "70", "a.cu"}, 2, NULL, "--target takes one of 75, 80, 86"},
    {{"exec", "--resident", "few", "a.cu"}, 2, NULL, "--resident takes a whole number"},
    {{"exec", "--schedule", "backwards", "a.cu"}, 2, NULL, "There are: in-order"},
    {{"run", "multi-block-scan", "a.cu", "--device", "tpu"}, 2, NULL, "there is no device 'tpu'"},
    {{"run", "multi-block-scan", "a.cu", "--isolation", "jail"}, 2, NULL, "auto, namespaces, land"},
    {{"run", "multi-block-scan", "a.cu", "--isolation", "none"}, 2, NULL, "--allow-unsandboxed"},
    {{"bench", "multi-block-scan", "a.cu", "--isolation=none"}, 2, NULL, "--allow-unsandboxed"},
    {{"verify", "--isolation", "none"}, 2, NULL, "--allow-unsandboxed"},
    {{"doctor", "--isolation", "none"}, 2, NULL, "--allow-unsandboxed"},
    {{"doctor", "--isolation", "landlock", "--require-isolation"}, 2, NULL, "go auto and namespac"},
    {{"doctor", "--isolation=none", "--allow-unsandboxed", "--require-isolation"},
     2,
     NULL,
     "wants"},
    {{"run", "multi-block-scan", LICENSE, "--case", "n=102"}, 2, NULL, "did you mean 'n=1023'?"},
    {{"run", "xyzzy", "a.cu"}, 2, NULL, "'./judge.sh list' shows them"},
    {{"run", "multi-block-scan", ""}, 2, NULL, "the name of the .cu file is empty"},
    {{"run", "multi-block-scan", "/dev/null"}, 2, NULL, "/dev/null is not a regular file"},
    {{"run", "multi-block-scan", "-dash.cu"}, 2, NULL, "-dash.cu looks like an option; for a"},
    {{"run", "multi-block-scan", "-dash.cu"}, 2, NULL, "write ./-dash.cu."},
    {{"run", "multi-block-scan", "a.cu", "--output", ""}, 2, NULL, "--output wants the name"},
    {{"run", "multi-block-scan", LICENSE, "--output", LICENSE}, 2, NULL, "would overwrite"},
    {{"run", "multi-block-scan", LICENSE, "--output", "/nonexistent/sub/r.json"},
     2,
     NULL,
     "there is no folder /nonexistent/sub (No such file or directory)"},
    {{"run", "multi-block-scan", LICENSE, "--output", LICENSE "/r.json"},
     2,
     NULL,
     "LICENSE is no folder"},
    {{"run", "multi-block-scan", LICENSE, "--output", "/proc"}, 2, NULL, "/proc is a folder"},
    {{"run", "multi-block-scan", LICENSE, "--trace", "/nonexistent/t"},
     2,
     NULL,
     "--trace /nonexis"},
    {{"exec", "--trace", "/nonexistent/t", LICENSE}, 2, NULL, "there is no folder /nonexistent"},
    {{"bench", "multi-block-scan", "--output", "/nonexistent/b.json"},
     2,
     NULL,
     "there is no folder"},
    {{"run", "multi-block-scan", "a.cu", "--seed", "+3"}, 2, NULL, "not '+3'"},
    {{"run", "multi-block-scan", "a.cu", "--seed", " 3"}, 2, NULL, "not ' 3'"},
    {{"run", "--seed", "3", "a.cu", "--seed", "3"}, 2, NULL, "--seed is given twice"},
    {{"run", "--case", "a", "a.cu", "--case", "b"}, 2, NULL, "--case is given twice"},
    {{"run", "--format", "text", "--format", "json"}, 2, NULL, "--format is given twice"},
    {{"run", "--help"}, 0, "--first-failure ", NULL},
    {{"help", "checks"}, 0, "bounds          accesses outside", NULL},
    {{"help", "formats"}, 0, "json            programs", NULL},
    {{"help", "isolation"}, 0, "--require-isolation ", NULL},
    {{"help", "schedules"}, 0, "last-first ", NULL},
    {{"run", "multi-block-scan", "-h"}, 0, "--verbose", NULL},
    {{"report"}, 2, NULL, "report wants files"},
    {{"report", "nowhere.json"}, 2, NULL, "nowhere.json"},
    {{"report", SOURCE_ROOT "/README.md"}, 2, NULL, "README.md: result 1: line 1: "},
    {{"report", GOLDEN "json/wrong_answer.json"}, 0, "wrong answer: multi-block-scan", NULL},
    {{"report", GOLDEN "jsonl/all.jsonl", "--format", "tap"}, 0, "TAP version 13\n1..", NULL},
    {{"report", GOLDEN "json/wrong_answer.json", "--format", "gradescope", "--points", "7"},
     0,
     "\"score\": 0.5,",
     NULL},
    {{"report", GOLDEN "json/warning.json", "--points", "0"}, 2, NULL, "--points takes"},
    {{"report", GOLDEN "json/warning.json", "--format", "xml"}, 2, NULL, "there are: text, json"},
    {{"report", GOLDEN "jsonl/all.jsonl", "--format", "json"}, 2, NULL, "tells of one submission"},
    {{"help", "verify"}, 0, "an earlier verification", NULL},
    {{"help", "test"}, 0, "has no such command", NULL},
    {{"help", "run", "exec"}, 2, NULL, "at most one command"},
    {{"test", "vm"}, 2, NULL, "a command of judge.sh"},
    {{"exec", ""}, 2, NULL, "the name of the .cu file is empty"},
    {{"exec", "/dev/null"}, 2, NULL, "/dev/null is not a regular file"},
    {{"exec"}, 2, NULL, "wants a .cu file"},
    {{"exec", "/nonexistent.cu"}, 2, NULL, "cannot read"},
    {{"exec", "--devcie", "cpu", "a.cu"}, 2, NULL, "Did you mean --device?"},
    {{"verify", "multi-block"}, 2, NULL, "there is no problem"},
    {{"doctor", "x"}, 2, NULL, "takes no arguments"},
};

static void calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
        try_call(&CALLS[i], SOURCE_ROOT);
}

/* A malformed spec: file, line and column, status 2, and the others are still listed. */
static void malformed_spec(void **state)
{
    (void)state;
    char root[256], folder[512], path[600];
    struct err e;
    assert_int_equal(file_make_temp_dir(root, sizeof root, "test-cli", &e), 0);
    snprintf(folder, sizeof folder, "%s/problems/broken", root);
    snprintf(path, sizeof path, "%s/problem.yaml", folder);
    assert_int_equal(file_make_dirs(folder, &e), 0);
    static const char SPEC[] = "format: 1\ntitel: {en: x}\n";
    assert_int_equal(file_write(path, SPEC, strlen(SPEC), &e), 0);
    const struct call malformed[] = {
        {{"list"}, 2, NULL, "judge: problems/broken/problem.yaml:2:"},
        {{"run", "broken", SOURCE_ROOT "/LICENSE"}, 2, NULL, "problem.yaml:2:1: titel"},
        {{"show", "broken"}, 2, NULL, "title"},
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        try_call(&malformed[i], root);
    assert_int_equal(file_remove_tree(root, &e), 0);
}

/* Needs no compiler: of this problem there is nothing to compile. */
static void what_verify_misses(void **state)
{
    (void)state;
    char root[256], path[600];
    struct err e;
    assert_int_equal(file_make_temp_dir(root, sizeof root, "test-cli", &e), 0);
    snprintf(path, sizeof path, "%s/submissions/bare/wong_answer", root);
    assert_int_equal(file_make_dirs(path, &e), 0);
    snprintf(path, sizeof path, "%s/problems/bare", root);
    assert_int_equal(file_make_dirs(path, &e), 0);
    snprintf(path, sizeof path, "%s/problems/bare/problem.yaml", root);
    static const char SPEC[] =
        "format: 1\ntitle: {en: Bare, zh: Bare}\ndifficulty: easy\nentry: f\n"
        "variables:\n  n: {type: int32, min: 0}\nparameters:\n"
        "  - {name: in, type: int32*, role: input, shape: [n]}\n"
        "  - {name: out, type: int32*, role: output, shape: [n]}\n"
        "  - {name: n, type: int32, value: n}\n"
        "check:\n  out: exact\noracle: exclusive_scan\ncases:\n  - {name: one, n: 1, in: [1]}\n";
    assert_int_equal(file_write(path, SPEC, strlen(SPEC), &e), 0);
    static const char *const SAYS[] = {
        "FAIL  bare: problems/bare/statement.md is missing",
        "FAIL  bare: problems/bare/statement.zh.md is missing",
        "FAIL  bare: no case is public",
        "FAIL  bare: submissions/bare/wong_answer: no verdict is called 'wong_answer'. Did you "
        "mean 'wrong_answer'? There are: accepted, ",
        "FAIL  bare: reference/bare holds no reference solution",
        "FAIL  bare: submissions/bare holds no submission that must be rejected",
        "FAIL  bare: an answer of zeros fails in 0 of 1 cases; passes in 'one'",
        "FAIL  bare: mutants: there is nothing to put a fault into",
        "FAIL  bare: problems/bare/starter.cu is missing",
        "14 checks, 10 failed",
    };
    for (size_t i = 0; i < sizeof SAYS / sizeof SAYS[0]; i++)
        try_call(&(struct call){{"verify", "bare"}, 1, SAYS[i], NULL}, root);
    assert_int_equal(file_remove_tree(root, &e), 0);
}

static void write_problem(const char *root, const char *id, const char *after)
{
    char path[600], spec[1000];
    struct err e;
    snprintf(path, sizeof path, "%s/problems/%s", root, id);
    assert_int_equal(file_make_dirs(path, &e), 0);
    snprintf(path, sizeof path, "%s/problems/%s/problem.yaml", root, id);
    snprintf(spec, sizeof spec,
             "format: 1\ntitle: {en: The %s, zh: X}\ndifficulty: easy\nafter: [%s]\nentry: f\n"
             "variables: {n: {min: 0}}\n"
             "parameters: [{name: a, type: int32*, role: inout, shape: [n]}]\n"
             "check: {a: exact}\noracle: exclusive_scan\ncases: [{name: empty, n: 0}]\n",
             id, after);
    assert_int_equal(file_write(path, spec, strlen(spec), &e), 0);
}

static void write_state(const char *root, const char *id, const char *line)
{
    char path[600];
    struct err e;
    snprintf(path, sizeof path, "%s/state/scanjudge/problems", root);
    assert_int_equal(file_make_dirs(path, &e), 0);
    snprintf(path, sizeof path, "%s/state/scanjudge/problems/%s", root, id);
    assert_int_equal(file_write(path, line, strlen(line), &e), 0);
}

/* z first, since the others build on it; two that build on each other are still listed. */
static void the_path_and_what_is_solved(void **state)
{
    (void)state;
    char root[256];
    struct err e;
    assert_int_equal(file_make_temp_dir(root, sizeof root, "test-cli", &e), 0);
    write_problem(root, "z", "");
    write_problem(root, "a", "z");
    write_problem(root, "b", "z, a");
    write_problem(root, "round", "trip");
    write_problem(root, "trip", "round");
    static const struct step {
        const char *id, *line; /* what is written before; NULL = nothing */
        const char *says;
    } STEPS[] = {
        {NULL, NULL,
         "next    z                            easy    The z\n"
         "later   a                            easy    The a (first: z)\n"
         "later   b                            easy    The b (first: z, a)\n"},
        {NULL, NULL, "later   round                        easy    The round (first: trip)\n"},
        {NULL, NULL, "0 of 5 solved"},
        {NULL, NULL, "show z\n"},
        {"z", "solved /home/s/z.cu\n",
         "solved  z                            easy    The z\n"
         "next    a                            easy    The a\n"
         "later   b                            easy    The b (first: a)\n"},
        {"a", "tried /home/s/a.cu\n", "next    a "},
        {"a", "solved /home/s/a.cu\n", "2 of 5 solved"},
        {"b", "nonsense", "next    b "},
    };
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
        if (STEPS[i].id)
            write_state(root, STEPS[i].id, STEPS[i].line);
        try_call(&(struct call){{"list", "--lang", "en"}, 0, STEPS[i].says, NULL}, root);
    }
    try_call(&(struct call){{"list", "--lang", "zh"}, 0, "完成    z ", NULL}, root);
    assert_int_equal(file_remove_tree(root, &e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls),
        cmocka_unit_test(malformed_spec),
        cmocka_unit_test(what_verify_misses),
        cmocka_unit_test(the_path_and_what_is_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
