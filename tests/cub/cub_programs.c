/* The programs of this folder, run through `judge exec` with all default checks: each must end with
 * status 0, say PASS in its last line, and write nothing to stderr - a finding of the device would
 * stand there, and every one is a false alarm.
 *
 * Each program runs in order with all its sizes, then up to 4097 elements under the other
 * schedules. --quick: in order up to 4097 only, and only the programs of QUICK.
 *
 * usage: cub_programs [--quick] [FILE-PART...] */
#include "e2e.h"

#include "base/arena.h"
#include "base/file.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program per family, chosen so that compiling them fits four minutes of two cores. */
static const char *const QUICK[] = {"scan.cu",       "select.cu",     "lookback.cu",  "groups.cu",
                                    "libcudacxx.cu", "run_length.cu", "histogram.cu", "warp.cu",
                                    "block_sort.cu", "thrust_scan.cu"};

static const struct schedule {
    const char *name, *variables, *largest;
} SCHEDULES[] = {
    {"in-order", "", ""},
    {"reversed", "SCANJUDGE_SCHEDULE=reversed ", "4097"},
    {"random", "SCANJUDGE_SCHEDULE=random SCANJUDGE_SEED=7 ", "4097"},
};
static const struct schedule QUICK_SCHEDULE = {"in-order", "", "4097"};
enum { SCHEDULE_COUNT = sizeof SCHEDULES / sizeof SCHEDULES[0] };

struct list {
    struct arena arena;
    const char **paths; /* relative to the root */
    size_t count;
    bool quick;
};

/* The number in "PASS: 0 of N (algorithm, type, n) triples differ" of the last line, 0 if it is
 * another one. */
static unsigned long triples_passed(const char *out)
{
    static const char PASS[] = "PASS: 0 of ";
    const char *last = out;
    for (const char *at = out; (at = strchr(at, '\n')) && at[1]; at++)
        last = at + 1;
    return strncmp(last, PASS, sizeof PASS - 1) == 0 ? strtoul(last + sizeof PASS - 1, NULL, 10)
                                                     : 0;
}

static void run_schedule(const char *path, const struct schedule *s)
{
    struct e2e_run run;
    struct text line, why, what;
    text_init(&line);
    text_init(&why);
    text_init(&what);
    text_addf(&line, "%sexec '%s' exec %s %s", s->variables, e2e_paths.judge, path, s->largest);
    e2e_run(&(struct e2e_call){.shell = text_str(&line)}, &run);
    const char *out = text_str(&run.out), *errors = text_str(&run.errors);
    unsigned long triples = triples_passed(out);
    if (run.status != 0)
        text_addf(&why, "exit status %d (%s)\n", run.status, run.how);
    if (!triples)
        text_add(&why, "its last line does not say PASS\n");
    if (errors[0])
        text_add(&why, "it writes to stderr: a finding, or a warning of the compiler\n");
    if (why.length)
        text_addf(&why, "stdout: %.2000s\nstderr: %.4000s\nagain: %s\n", out, errors,
                  text_str(&line));
    text_addf(&what, "%s, %s, %lu triples, %.1f s", file_base_name(path), s->name, triples,
              run.seconds);
    e2e_check(text_str(&what), text_str(&why));
    e2e_run_release(&run);
    text_release(&line);
    text_release(&what);
    text_release(&why);
}

static void run_program(void *context, size_t i)
{
    const struct list *list = context;
    if (list->quick)
        run_schedule(list->paths[i], &QUICK_SCHEDULE);
    else
        for (int k = 0; k < SCHEDULE_COUNT; k++)
            run_schedule(list->paths[i], &SCHEDULES[k]);
}

static bool wanted(const struct list *list, const char *path, char **parts)
{
    bool any = !parts[0] && !list->quick;
    for (size_t i = 0; !parts[0] && list->quick && i < sizeof QUICK / sizeof QUICK[0]; i++)
        any |= strcmp(file_base_name(path), QUICK[i]) == 0;
    for (int i = 0; parts[i]; i++)
        any |= strstr(path, parts[i]) != NULL;
    return any;
}

static void find_programs(struct list *list, char **parts)
{
    struct arena *a = &list->arena;
    glob_t found;
    if (glob(arena_printf(a, "%s/tests/cub/*.cu", e2e_paths.root), 0, NULL, &found))
        found = (glob_t){0};
    list->paths = arena_array(a, found.gl_pathc + 1, sizeof *list->paths);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = arena_strdup(a, found.gl_pathv[i] + strlen(e2e_paths.root) + 1);
        if (wanted(list, path, parts))
            list->paths[list->count++] = path;
    }
    globfree(&found);
}

int main(int argc, char **argv)
{
    e2e_need_nvcc();
    struct list list = {.quick = argc > 1 && strcmp(argv[1], "--quick") == 0};
    arena_init(&list.arena);
    find_programs(&list, argv + (list.quick ? 2 : 1));
    e2e_for_each(list.count, run_program, &list);
    arena_release(&list.arena);
    return e2e_done();
}
