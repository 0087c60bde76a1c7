/* judge verify is green for the problem in tests/e2e/verify, and says what is wrong with it after
 * each of these changes: a check that cannot fail is worth nothing. */
#include "e2e.h"

#include "base/arena.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define YAML    "problems/tiny/problem.yaml"
#define PLAIN   "reference/tiny/plain.cu"
#define WRONG   "submissions/tiny/wrong_answer/last_missing.cu"
#define SAME    "submissions/tiny/accepted/same.cu"
#define STARTER "problems/tiny/starter.cu"

static const struct change {
    const char *what, *file, *from, *to, *says; /* to: NULL = the file is removed */
    int status;
    const char *mutants; /* NULL = none are judged */
} CHANGES[] = {
    {"nothing is wrong", YAML, "", "", "mutants: 11 of 11 caught, 100.0%", 0, "all"},
    {"a part of the mutants", YAML, "", "", "4 of 4 caught, 100.0% (4 of 13 judged", 0, "2/3"},
    {"a part that there is not", YAML, "", "", "--mutants takes a number, all, or K/N", 2, "4/3"},
    {"the statement is missing", "problems/tiny/statement.md", "", NULL, "statement.md", 1, NULL},
    {"no example", "problems/tiny/statement.zh.md", "```example", "```", "has no example", 1, NULL},
    {"two languages, two examples", "problems/tiny/statement.zh.md", "= 2 -4 6", "= 2 -4 8",
     "example 1 is another one in statement.zh.md", 1, NULL},
    {"an example that is wrong", "problems/tiny/statement.md", "= 2 -4 6", "= 2 -4 7",
     "out[2] is 7, and the reference computes 6", 1, NULL},
    {"an example that cannot be read", "problems/tiny/statement.md",
     "in  =", "inn =", "statement.md:5: an example names 'inn' (did you mean 'in'?)", 1, NULL},
    {"no public case", YAML, ", public: true", "", "no case is public", 1, NULL},
    {"a size that cannot be timed", YAML,
     "limits:", "benchmark:\n  sizes: [{n: 300000000}]\n  bytes: \"8 * n\"\nlimits:",
     "'n=300000000': its buffers take 2400000000 bytes", 1, NULL},
    {"a problem before it that is not there", YAML,
     "entry:", "after: [once]\nentry:", "there is no problem 'once'", 1, NULL},
    {"a label that no verdict has", SAME, "// expect: accepted", "// expect: excepted",
     "labelled excepted, but its folder says accepted", 1, NULL},
    {"no label", WRONG, "// expect: wrong_answer\n", "", "no '// expect: wrong_answer'", 1, NULL},
    {"a wrong submission that is right", WRONG, "n - 1)", "n)", "accepted instead of wrong answer",
     1, NULL},
    {"a wrong submission with another fault", WRONG, "nothing was written", "in the wrong order",
     "no diagnosis says 'in the wrong order'", 1, NULL},
    {"a finding that is not found", WRONG, "// expect-diagnosis: nothing was written",
     "// expect-finding: data_race", "without the finding data_race", 1, NULL},
    {"a right submission that is not accepted", SAME, "if (i < n)", "if (i <= n)",
     "run-time error instead of accepted (case", 1, NULL},
    {"no submission to reject", WRONG, "", NULL, "no submission that must be rejected", 1, NULL},
    {"a reference with a fault", PLAIN, "if (i < n)", "if (i <= n)", "plain.cu", 3, NULL},
    {"a starter that solves it", STARTER, "= in[i];", "= in[i] + in[i];",
     "accepted; nothing is left to do", 1, NULL},
    {"a starter that does not compile", STARTER, "= in[i];", "= in[i]", "compile error", 1, NULL},
    {"zeros are right", YAML, "uniform(5000, 9000000)", "constant(0)",
     "an answer of zeros fails in", 1, NULL},
    {"half precision is enough", YAML, "uniform(5000, 9000000)", "uniform(-9, 9)",
     "rounded to half precision fails in 0 of", 1, NULL},
    {"an earlier answer is right", YAML,
     "[33, 256, 257, 1000, 40000, 65281], in: uniform(5000, 9000000)}",
     "[33, 34], in: constant(70001)}\n"
     "  - {name: \"again {n}\", n: [33, 34], in: constant(70001)}\n"
     "  - {name: \"and again {n}\", n: [33, 34], in: constant(70001)}",
     "the right answer of an earlier case fails in 3 of", 1, NULL},
    {"cases that are worth little", YAML, "[33, 256, 257, 1000, 40000, 65281]", "[33, 100]",
     "FAIL  tiny: mutants: ", 1, "all"},
    {"a named mutant that is caught", "problems/tiny/mutants.tsv", "(n + 255) / 255",
     "(n + 254) / 256", "mutants.tsv says that it changes nothing", 1, "all"},
    {"a named mutant with its line", "problems/tiny/mutants.tsv", "same.cu\t", "same.cu:12\t",
     "11 of 11 caught", 0, "all"},
    {"a named mutant with another line", "problems/tiny/mutants.tsv", "same.cu\t", "same.cu:13\t",
     "mutants.tsv:2: there is no such mutant", 2, "1"},
    {"a named mutant that is not there", "problems/tiny/mutants.tsv", "same.cu", "some.cu",
     "mutants.tsv:2: there is no such mutant", 2, "1"},
    {"a row that has no reason", "problems/tiny/mutants.tsv",
     "\ta block too many finds no elements", "", "mutants.tsv:2: a row wants four fields", 2, "1"},
};

/* A copy of the fixture in `root`, with the change. */
static void make_problem(const struct change *c, const char *root, struct arena *a)
{
    struct e2e_run run;
    struct text text, changed;
    struct err e;
    text_init(&text);
    text_init(&changed);
    const char *copy = arena_printf(a, "cp -r tests/e2e/verify/. '%s'", root);
    e2e_run(&(struct e2e_call){.shell = copy}, &run);
    const char *path = arena_printf(a, "%s/%s", root, c->file);
    if (run.status != 0 || file_read(path, 1 << 20, &text, &e) != 0)
        BUG("cannot copy the problem: %s", text_str(&run.errors));
    const char *at = strstr(text_str(&text), c->from);
    if (!at)
        BUG("%s has no '%s' to change", c->file, c->from);
    text_addn(&changed, text.data, (size_t)(at - text.data));
    text_add(&changed, c->to ? c->to : "");
    text_add(&changed, at + strlen(c->from));
    if (c->to ? file_write(path, text_str(&changed), changed.length, &e) != 0 : remove(path) != 0)
        BUG("cannot change %s", path);
    text_release(&changed);
    text_release(&text);
    e2e_run_release(&run);
}

static void check_change(void *context, size_t i)
{
    const struct change *c = &CHANGES[i];
    const char *argv[] = {"verify", "tiny", "--mutants", c->mutants ? c->mutants : "0",
                          "--jobs", "1",    NULL};
    char root[256];
    struct arena arena;
    struct e2e_run run;
    struct text why;
    struct err e;
    (void)context;
    arena_init(&arena);
    text_init(&why);
    if (file_make_temp_dir(root, sizeof root, "scanjudge-e2e", &e) != 0)
        BUG("%s", e.text);
    make_problem(c, root, &arena);
    e2e_run(&(struct e2e_call){.argv = argv, .root = root}, &run);
    if (run.status != c->status)
        text_addf(&why, "exit status %d (%s), expected %d\n", run.status, run.how, c->status);
    if (!strstr(text_str(&run.out), c->says) && !strstr(text_str(&run.errors), c->says))
        text_addf(&why, "nothing says '%s'\n", c->says);
    if (c->status == 1 && !strstr(text_str(&run.out), "FAIL"))
        text_add(&why, "no line begins with FAIL\n");
    if (why.length)
        text_addf(&why, "stdout: %.3000s\nstderr: %.500s", text_str(&run.out),
                  text_str(&run.errors));
    e2e_check(c->what, text_str(&why));
    if (file_remove_tree(root, &e) != 0)
        BUG("%s", e.text);
    e2e_run_release(&run);
    text_release(&why);
    arena_release(&arena);
}

int main(void)
{
    e2e_need_nvcc();
    e2e_for_each(sizeof CHANGES / sizeof CHANGES[0], check_change, NULL);
    return e2e_done();
}
