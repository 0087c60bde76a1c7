/* Complete programs, run through `judge exec`: each must end with status 0, print PASS, and never
 * FAIL. Some have lines of their own that must come out exactly. A first line `// target: 90` is
 * what it is compiled for.
 * usage: e2e_programs [FILE-PART...] */
#include "e2e.h"

#include "base/arena.h"
#include "base/file.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 12 };

/* Lines that a program must print, by its file name; a program with an argument is a run of its
 * own. */
static const struct expectation {
    const char *program, *argument;
    const char *lines[LINES_MAX];
} EXPECTATIONS[] = {
    {"printf_assert.cu",
     NULL,
     {"plain text, 100%", "int -7, unsigned 7, hex ff", "padded [   42] [42   ] [00042]",
      "long -5000000000, unsigned long 18446744073709551615",
      "double 0.500000, float 2.250, exponent 1.234568e+04, short form 1e-10", "lane 1 of block 0",
      "lane 3 of block 0", "synchronize: cudaSuccess"}},
    {"printf_assert.cu", "fail", {"synchronize: cudaErrorAssert"}},
    {"scan.cu", NULL, {"exclusive scan of 10000007 ints: PASS (0 mismatches)"}},
};
enum { EXPECTATION_COUNT = sizeof EXPECTATIONS / sizeof EXPECTATIONS[0] };

struct program {
    const char *path;                      /* relative to the root */
    const struct expectation *expectation; /* NULL = PASS is enough */
};

struct list {
    struct arena arena;
    struct program *programs;
    size_t count;
};

static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, line, length) == 0 && (at[length] == '\n' || !at[length]))
            return true;
    return false;
}

/* N of a first line "// target: N", in `out`; "75" without one. */
static const char *target_of(const char *path, char out[8])
{
    struct text source;
    struct err e;
    char *full = NULL;
    snprintf(out, 8, "75");
    text_init(&source);
    if (asprintf(&full, "%s/%s", e2e_paths.root, path) > 0 &&
        file_read(full, 1 << 20, &source, &e) == 0)
        sscanf(text_str(&source), "// target: %7[0-9]", out);
    free(full);
    text_release(&source);
    return out;
}

static void run_program(void *context, size_t i)
{
    const struct list *list = context;
    const struct program *p = &list->programs[i];
    const struct expectation *x = p->expectation;
    char target[8];
    const char *argv[] = {
        "exec", "--target", target_of(p->path, target), p->path, x ? x->argument : NULL, NULL};
    struct e2e_run run;
    struct text why, what;
    text_init(&why);
    text_init(&what);
    e2e_run(&(struct e2e_call){.argv = argv}, &run);
    const char *out = text_str(&run.out);
    if (run.status != 0)
        text_addf(&why, "exit status %d (%s)\n", run.status, run.how);
    if (!strstr(out, "PASS"))
        text_add(&why, "it does not print PASS\n");
    if (strstr(out, "FAIL"))
        text_add(&why, "it prints FAIL\n");
    for (int k = 0; x && k < LINES_MAX && x->lines[k]; k++)
        if (!has_line(out, x->lines[k]))
            text_addf(&why, "it does not print the line: %s\n", x->lines[k]);
    if (why.length)
        text_addf(&why, "stdout: %.800s\nstderr: %.800s", out, text_str(&run.errors));
    text_addf(&what, "exec %s%s%s, %.2f s", p->path, x && x->argument ? " " : "",
              x && x->argument ? x->argument : "", run.seconds);
    e2e_check(text_str(&what), text_str(&why));
    e2e_run_release(&run);
    text_release(&what);
    text_release(&why);
}

static bool wanted(const char *path, char **parts)
{
    bool any = !parts[0];
    for (int i = 0; parts[i]; i++)
        any |= strstr(path, parts[i]) != NULL;
    return any;
}

static void find_programs(struct list *list, char **parts)
{
    struct arena *a = &list->arena;
    glob_t found;
    if (glob(arena_printf(a, "%s/tests/e2e/programs/*.cu", e2e_paths.root), 0, NULL, &found))
        found = (glob_t){0};
    list->programs = arena_array(a, found.gl_pathc + EXPECTATION_COUNT, sizeof(struct program));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = arena_strdup(a, found.gl_pathv[i] + strlen(e2e_paths.root) + 1);
        bool expected = false;
        if (!wanted(path, parts))
            continue;
        for (size_t k = 0; k < EXPECTATION_COUNT; k++)
            if (strcmp(file_base_name(path), EXPECTATIONS[k].program) == 0) {
                list->programs[list->count++] = (struct program){path, &EXPECTATIONS[k]};
                expected = true;
            }
        if (!expected)
            list->programs[list->count++] = (struct program){path, NULL};
    }
    globfree(&found);
}

int main(int argc, char **argv)
{
    (void)argc;
    e2e_need_nvcc();
    struct list list = {0};
    arena_init(&list.arena);
    find_programs(&list, argv + 1);
    e2e_for_each(list.count, run_program, &list);
    arena_release(&list.arena);
    return e2e_done();
}
