/* Checkers of tests/e2e/verify/problems/argmax: in C and in CUDA, right and broken. What a checker
 * says decides; one that gives no answer is the problem's fault, with exit status 3; and it is shut
 * in. */
#include "e2e.h"

#include "base/arena.h"
#include "base/file.h"

#include <string.h>

#define RIGHT "submissions/argmax/accepted/last.cu"
#define WRONG "submissions/argmax/wrong_answer/minimum.cu"
#define HEAD  "#include \"checker.h\"\n"

static const char IN_CUDA[] =
    HEAD "__global__ void count_larger(const int *in, int n, int place, int *larger)\n{\n"
         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "    if (i < n && in[i] > in[place])\n        atomicAdd(larger, 1);\n}\n"
         "int main()\n{\n    int n = (int)checker_variable(\"n\"), larger = -1;\n"
         "    int *place = (int *)checker_got(\"place\"), *in, *count;\n"
         "    if (*place < 0 || *place >= n)\n        checker_wrong(\"outside\");\n"
         "    cudaMalloc(&in, n * sizeof *in);\n    cudaMalloc(&count, sizeof *count);\n"
         "    cudaMemcpy(in, checker_in(\"in\"), n * sizeof *in, cudaMemcpyHostToDevice);\n"
         "    cudaMemset(count, 0, sizeof *count);\n"
         "    count_larger<<<(n + 255) / 256, 256>>>(in, n, *place, count);\n"
         "    cudaMemcpy(&larger, count, sizeof larger, cudaMemcpyDeviceToHost);\n"
         "    if (larger < 0)\n        return 1;\n"
         "    if (larger > 0)\n        checker_wrong(\"%d items are larger\", larger);\n"
         "    checker_accept();\n}\n";

static const char TWICE[] = "#define TWICE 84\n"; /* lies beside each of them */

static const struct row {
    const char *what, *source; /* NULL = the fixture's own */
    const char *name;          /* of the checker; NULL = check.c */
    const char *file;
    int status;
    const char *says;
} ROWS[] = {
    {"a right answer", NULL, NULL, RIGHT, 0, "accepted"},
    {"a wrong answer", NULL, NULL, WRONG, 1, "in[place] is not the largest item"},
    {"in CUDA, a right answer", IN_CUDA, "check.cu", RIGHT, 0, "accepted"},
    {"in CUDA, a wrong answer", IN_CUDA, "check.cu", WRONG, 1, "items are larger"},
    {"no answer", "int main(void) { return 0; }\n", NULL, RIGHT, 3, "ended with status 0; it must"},
    {"a crash", "int main(void) { *(volatile int *)8 = 1; return 42; }\n", NULL, RIGHT, 3,
     "was killed by signal 11"},
    {"no end", "int main(void) { for (volatile int i = 0;; i++) {} }\n", NULL, RIGHT, 3,
     "was not done in time"},
    {"a flood", "#include <stdio.h>\nint main(void) { for (;;) puts(\"wrong\"); }\n", NULL, RIGHT,
     3, "printed too much"},
    {"what is no program", "int main(void) { return 42 }\n", NULL, RIGHT, 3, "does not compile"},
    {"the machine's files, by its compiler",
     "#include \"/etc/passwd\"\nint main(void) { return 0; }\n", NULL, RIGHT, 3,
     "/etc/passwd: No such file or directory"},
    {"the judge's files, by its compiler",
     "#include \"" E2E_SOURCES "/LICENSE\"\nint main(void) { return 0; }\n", NULL, RIGHT, 3,
     "LICENSE: No such file or directory"},
    {"a header beside it",
     HEAD "#include \"twice.h\"\n#include <twice.h>\nint main(void) { return TWICE - 42; }\n", NULL,
     RIGHT, 0, "accepted"},
    {"a name that is not there", HEAD "int main(void) { checker_got(\"nothing\"); return 42; }\n",
     NULL, RIGHT, 3, "there is no such file: got.nothing"},
    {"a look around",
     HEAD "#include <unistd.h>\n#include <sys/socket.h>\n"
          "int main(void) { if (fopen(\"/etc/shadow\", \"r\") || fopen(\"/root\", \"r\") ||\n"
          "access(\"" E2E_SOURCES "\", F_OK) == 0)\n"
          "checker_wrong(\"it gets out\"); checker_accept(); return 1; }\n",
     NULL, RIGHT, 0, "accepted"},
};

static void write_checker(const struct row *row, const char *root, struct arena *a)
{
    struct err e;
    struct text spec, changed;
    text_init(&spec);
    text_init(&changed);
    const char *folder = arena_printf(a, "%s/problems/argmax", root);
    const char *yaml = arena_printf(a, "%s/problem.yaml", folder);
    if (file_read(yaml, 1 << 20, &spec, &e) != 0)
        BUG("%s", e.text);
    const char *at = strstr(text_str(&spec), "check.c\n"), *limit = "time: 10 s";
    const char *time = strstr(text_str(&spec), limit);
    text_addn(&changed, spec.data, (size_t)(at - spec.data));
    text_addf(&changed, "%s\n", row->name ? row->name : "check.c");
    text_addn(&changed, at + 8, (size_t)(time - at - 8));
    text_addf(&changed, "time: 2 s%s", time + strlen(limit));
    if (file_write(yaml, changed.data, changed.length, &e) != 0 ||
        file_write(arena_printf(a, "%s/%s", folder, row->name ? row->name : "check.c"), row->source,
                   strlen(row->source), &e) != 0 ||
        file_write(arena_printf(a, "%s/twice.h", folder), TWICE, sizeof TWICE - 1, &e) != 0)
        BUG("%s", e.text);
    text_release(&changed);
    text_release(&spec);
}

static void judge_row(void *context, size_t i)
{
    const struct row *row = &ROWS[i];
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
    e2e_run(
        &(struct e2e_call){.shell = arena_printf(&arena, "cp -rL tests/e2e/verify/. '%s'", root)},
        &run);
    e2e_run_release(&run);
    if (row->source)
        write_checker(row, root, &arena);
    const char *file = arena_printf(&arena, "%s/%s", root, row->file);
    const char *argv[] = {"run", "argmax", file, NULL};
    e2e_run(&(struct e2e_call){.argv = argv, .root = root}, &run);
    if (run.status != row->status)
        text_addf(&why, "exit status %d (%s), expected %d\n", run.status, run.how, row->status);
    if (!strstr(text_str(&run.out), row->says) && !strstr(text_str(&run.errors), row->says))
        text_addf(&why, "nothing says '%s'\n", row->says);
    if (why.length)
        text_addf(&why, "stdout: %.1500s\nstderr: %.1500s", text_str(&run.out),
                  text_str(&run.errors));
    e2e_check(row->what, text_str(&why));
    if (file_remove_tree(root, &e) != 0)
        BUG("%s", e.text);
    e2e_run_release(&run);
    text_release(&why);
    arena_release(&arena);
}

/* verify asks the checker about trivial answers, too. */
static void verify_it(void)
{
    const char *argv[] = {"verify", "argmax", "--mutants", "all", NULL};
    struct arena arena;
    struct e2e_run run;
    arena_init(&arena);
    const char *root = arena_printf(&arena, "%s/tests/e2e/verify", e2e_paths.root);
    e2e_run(&(struct e2e_call){.argv = argv, .root = root}, &run);
    e2e_check("verify is green with a checker",
              run.status == 0 ? NULL
                              : arena_printf(&arena, "exit status %d\n%.4000s%.500s", run.status,
                                             text_str(&run.out), text_str(&run.errors)));
    e2e_run_release(&run);
    arena_release(&arena);
}

int main(void)
{
    e2e_need_nvcc();
    e2e_for_each(sizeof ROWS / sizeof ROWS[0], judge_row, NULL);
    verify_it();
    return e2e_done();
}
